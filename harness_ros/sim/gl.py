# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Chooses how MuJoCo renders without a display, before `mujoco` is imported.

MuJoCo reads the environment variable `MUJOCO_GL` once, at its import.
"""

from __future__ import annotations

import ctypes
import os
import sys
from typing import Final

from harness_ros.sim.errors import RenderingError

HINT: Final = (
    "no OpenGL implementation renders without a display here; on Debian and Ubuntu: "
    "apt-get install libegl1 libgl1 libosmesa6"
)

_VARIABLE = "MUJOCO_GL"
_OFF = ("disable", "disabled", "off", "false", "0")
_EGL_PLATFORM_DEVICE_EXT = 0x313F


def prepare() -> None:
    """Sets `MUJOCO_GL` to EGL, else OSMesa, else off, unless it is set already.

    Physics runs in each case; `require` tells whether cameras do.
    """
    if _VARIABLE in os.environ or "mujoco" in sys.modules or sys.platform != "linux":
        return
    os.environ[_VARIABLE] = choose()


def choose() -> str:
    """The value of `MUJOCO_GL` that works here."""
    if _egl_works():
        return "egl"
    return "osmesa" if _osmesa_works() else _OFF[0]


def require() -> str:
    """The name of the OpenGL implementation in use.

    Raises:
        RenderingError: There is none.
    """
    chosen = os.environ.get(_VARIABLE, "").lower().strip()
    if chosen in _OFF:
        raise RenderingError(HINT)
    if not chosen and sys.platform == "linux":
        # MuJoCo would go for a window, and ends the process where there is no display.
        raise RenderingError(
            "mujoco was imported before harness_ros.sim, which could not choose how to render: "
            f"set the environment variable {_VARIABLE} to egl or osmesa"
        )
    return chosen or "the platform's default"


def _egl_works() -> bool:
    """Asks EGL for a device that initializes, as MuJoCo does."""
    try:
        egl = ctypes.CDLL("libEGL.so.1")
        ctypes.CDLL("libGL.so.1")
    except OSError:
        return False
    egl.eglGetProcAddress.restype = ctypes.c_void_p
    query = egl.eglGetProcAddress(b"eglQueryDevicesEXT")
    display_of = egl.eglGetProcAddress(b"eglGetPlatformDisplayEXT")
    if not query or not display_of:
        return False
    pointer, integer = ctypes.c_void_p, ctypes.c_int
    query_devices = ctypes.CFUNCTYPE(integer, integer, pointer, pointer)(query)
    get_display = ctypes.CFUNCTYPE(pointer, integer, pointer, pointer)(display_of)
    devices, count = (pointer * 16)(), integer()
    if not query_devices(16, devices, ctypes.byref(count)):
        return False
    egl.eglInitialize.argtypes = [pointer, pointer, pointer]
    displays = (get_display(_EGL_PLATFORM_DEVICE_EXT, d, None) for d in devices[: count.value])
    return any(display and egl.eglInitialize(display, None, None) for display in displays)


def _osmesa_works() -> bool:
    for library in ("libOSMesa.so.8", "libOSMesa.so.6", "libOSMesa.so"):
        try:
            ctypes.CDLL(library)
        except OSError:
            continue
        return True
    return False
