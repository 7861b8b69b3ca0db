# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The MuJoCo model of the tabletop, from `geometry` and `textures`."""

from __future__ import annotations

import copy
from functools import lru_cache

import mujoco
import numpy as np

from harness_ros.sim.geometry import BLOCKS, GEOMETRY, XYZ, ZONES, CameraGeometry, Geometry
from harness_ros.sim.textures import assets

_BEAM_Y = 0.44
_BEAM_Z = 0.56
_BOOM_Z = 0.605
_COLUMN = 0.50


def load() -> mujoco.MjModel:
    """A model of one's own; it is compiled once a process."""
    return copy.copy(_compiled())


@lru_cache(maxsize=1)
def _compiled() -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(xml(), assets())


def xml(g: Geometry = GEOMETRY) -> str:
    """The model as MJCF text."""
    return f"""
<mujoco model="tabletop">
  <compiler angle="degree" autolimits="true"/>
  <option timestep="{g.timestep}" cone="elliptic" impratio="10" integrator="implicitfast"/>
  <visual>
    <global offwidth="{max(c.width for c in g.cameras.values())}"
            offheight="{max(c.height for c in g.cameras.values())}"/>
    <quality shadowsize="2048" offsamples="4"/>
    <headlight ambient="0.44 0.44 0.46" diffuse="0.16 0.16 0.16" specular="0 0 0"/>
    <map znear="0.01" zfar="12" shadowclip="2.2"/>
  </visual>
  <statistic center="0 0 0.1" extent="1"/>
  <asset>{_assets()}</asset>
  <worldbody>
    <light directional="true" pos="-0.5 -0.5 1.6" dir="0.28 0.36 -1" castshadow="true"
           diffuse="0.40 0.39 0.37" specular="0.05 0.05 0.05"/>
    <light directional="true" pos="0.8 -1 1" dir="-0.45 0.8 -0.55" castshadow="false"
           diffuse="0.16 0.16 0.18" specular="0 0 0"/>
    {_room(g)}
    {_zones(g)}
    {_bin(g)}
    {"".join(_block(g, name) for name in BLOCKS)}
    {_gantry(g)}
    {_camera("front", g.cameras["front"])}
    {_camera("top", g.cameras["top"])}
  </worldbody>
  <contact><exclude body1="left_finger" body2="right_finger"/></contact>
  <equality><joint joint1="left_finger" joint2="right_finger" solref="0.004 1"/></equality>
  <actuator>
    {"".join(f'<position name="{a}" joint="{a}" kp="9000" dampratio="1"/>' for a in "xyz")}
    {"".join(_finger_actuator(g, side) for side in ("left", "right"))}
  </actuator>
</mujoco>"""


def _assets() -> str:
    blocks = "".join(
        f'<texture name="{b}" type="cube" file="{b}.png"/>'
        f'<material name="{b}" texture="{b}" specular="0.05" shininess="0.1"/>'
        for b in BLOCKS
    )
    pads = "".join(
        f'<texture name="{z}" type="2d" file="{z}.png"/>'
        f'<material name="{z}" texture="{z}" specular="0" shininess="0"/>'
        for z in ZONES
    )
    return f"""{blocks}{pads}
    <texture type="skybox" builtin="gradient" rgb1="0.80 0.86 0.92" rgb2="0.42 0.49 0.58"
             width="256" height="1536"/>
    <texture name="wood" type="2d" file="wood.png"/>
    <material name="wood" texture="wood" specular="0.05" shininess="0.1"/>
    <material name="floor" rgba="0.58 0.66 0.73 1" specular="0" reflectance="0"/>
    <material name="edge" rgba="0.62 0.52 0.41 1" specular="0"/>
    <material name="bin" rgba="0.27 0.31 0.38 1" specular="0.1" shininess="0.2"/>
    <material name="frame" rgba="0.86 0.88 0.90 1" specular="0.3" shininess="0.5"/>
    <material name="dark" rgba="0.17 0.19 0.23 1" specular="0.2" shininess="0.4"/>
    <material name="pad" rgba="0.48 0.50 0.54 1" specular="0.1" shininess="0.2"/>
    """


def _room(g: Geometry) -> str:
    (x0, x1), (y0, y1) = g.table_x, g.table_y
    cx, cy, hx, hy = (x0 + x1) / 2, (y0 + y1) / 2, (x1 - x0) / 2, (y1 - y0) / 2
    thick = g.table_thickness / 2
    leg = (-g.floor_z - g.table_thickness) / 2
    legs = "".join(
        f'<geom type="box" size="0.02 0.02 {leg}" material="edge" contype="0" conaffinity="0" '
        f'pos="{cx + sx * (hx - 0.03)} {cy + sy * (hy - 0.03)} {g.floor_z + leg}"/>'
        for sx in (-1, 1)
        for sy in (-1, 1)
    )
    return f"""
    <geom name="floor" type="plane" size="4 4 0.1" pos="0 0 {g.floor_z}" material="floor"/>
    <geom name="table" type="box" size="{hx} {hy} {thick}" pos="{cx} {cy} {-thick}"
          material="edge"/>
    <geom type="plane" size="{hx} {hy} 1" pos="{cx} {cy} 0.0003" material="wood"
          contype="0" conaffinity="0"/>
    {legs}"""


def _zones(g: Geometry) -> str:
    return "".join(
        f'<geom name="{name}" type="plane" size="{g.zone_half} {g.zone_half} 1" '
        f'pos="{x} {y} 0.001" material="{name}" contype="0" conaffinity="0"/>'
        for name, (x, y) in g.zones.items()
    )


def _bin(g: Geometry) -> str:
    (hx, hy), wall, top = g.bin_half, g.bin_wall / 2, g.bin_height / 2
    sides = "".join(
        f'<geom type="box" size="{wall} {hy + 2 * wall} {top}" pos="{s * (hx + wall)} 0 {top}" '
        f'material="bin"/>'
        f'<geom type="box" size="{hx} {wall} {top}" pos="0 {s * (hy + wall)} {top}" '
        f'material="bin"/>'
        for s in (-1, 1)
    )
    return f"""
    <body name="bin" pos="{g.bin_centre[0]} {g.bin_centre[1]} 0">
      <geom type="box" size="{hx} {hy} {g.bin_floor / 2}" pos="0 0 {g.bin_floor / 2}"
            material="dark"/>
      {sides}
    </body>"""


def _block(g: Geometry, name: str) -> str:
    half = g.block / 2
    return f"""
    <body name="{name}" pos="0 0 {half}">
      <freejoint name="{name}"/>
      <geom name="{name}" type="box" size="{half} {half} {half}" mass="{g.block_mass}"
            friction="{g.block_friction} 0.005 0.0001" priority="1" condim="4" material="{name}"/>
    </body>"""


def _gantry(g: Geometry) -> str:
    """Three slides whose joint values are the tool tip's coordinates, and two fingers."""
    bare = 'contype="0" conaffinity="0"'
    thick, width, length = g.finger
    posts = "".join(
        f'<geom type="box" size="0.025 0.025 {(_BEAM_Z - g.floor_z) / 2}" '
        f'pos="{x} {_BEAM_Y} {(_BEAM_Z + g.floor_z) / 2}" material="frame" {bare}/>'
        for x in (-0.56, 0.56)
    )
    fingers = "".join(
        f"""
        <body name="{side}_finger" gravcomp="1">
          <joint name="{side}_finger" type="slide" axis="{sign} 0 0"
                 range="0 {g.open_width / 2 + 0.002}" damping="4" armature="0.02"/>
          <geom name="{side}_finger" type="box" size="{thick / 2} {width / 2} {length / 2}"
                pos="{sign * thick / 2} 0 {length / 2}" mass="0.05" material="pad"
                friction="0.8 0.005 0.0001"/>
        </body>"""
        for side, sign in (("left", -1), ("right", 1))
    )
    palm = length + 0.02
    return f"""
    {posts}
    <geom type="box" size="0.585 0.03 0.03" pos="0 {_BEAM_Y} {_BEAM_Z}" material="frame" {bare}/>
    <body name="gantry_x" gravcomp="1">
      <joint name="x" type="slide" axis="1 0 0" range="-0.5 0.5"/>
      <geom type="box" size="0.055 0.045 0.045" pos="0 {_BEAM_Y} {_BEAM_Z}" mass="0.5"
            material="dark" {bare}/>
      <body name="gantry_y" gravcomp="1">
        <joint name="y" type="slide" axis="0 1 0" range="-0.40 0.30"/>
        <geom type="box" size="0.022 0.43 0.022" pos="0 0.44 {_BOOM_Z}" mass="0.5"
              material="frame" {bare}/>
        <geom type="box" size="0.034 0.034 0.04" pos="0 0 {_BOOM_Z}" mass="0.2"
              material="dark" {bare}/>
        <body name="gantry_z" gravcomp="1">
          <joint name="z" type="slide" axis="0 0 1" range="0 0.40"/>
          <geom type="cylinder" size="0.016 {_COLUMN / 2}" pos="0 0 {palm + 0.02 + _COLUMN / 2}"
                mass="0.3" material="frame" {bare}/>
          <geom type="box" size="0.062 0.026 0.02" pos="0 0 {palm}" mass="0.4"
                material="dark" {bare}/>
          <geom type="box" size="0.016 0.012 0.010" pos="0 -0.088 {palm}" mass="0.02"
                material="dark" {bare}/>
          <geom type="box" size="0.008 0.028 0.004" pos="0 -0.053 {palm + 0.008}" mass="0.02"
                material="dark" {bare}/>
          {_camera("wrist", g.cameras["wrist"])}
          {fingers}
        </body>
      </body>
    </body>"""


def _finger_actuator(g: Geometry, side: str) -> str:
    return (
        f'<position name="{side}_finger" joint="{side}_finger" kp="700" kv="12" '
        f'forcerange="{-g.finger_force} {g.finger_force}"/>'
    )


def _camera(name: str, camera: CameraGeometry) -> str:
    right, up, _ = axes(camera)
    xyaxes = " ".join(f"{v:.9f}" for v in (*right, *up))
    eye = " ".join(str(v) for v in camera.eye)
    return f'<camera name="{name}" pos="{eye}" xyaxes="{xyaxes}" fovy="{camera.fovy}"/>'


def axes(camera: CameraGeometry) -> tuple[XYZ, XYZ, XYZ]:
    """Unit vectors to the right of the image, up in it, and along the optical axis."""
    forward = np.subtract(camera.target, camera.eye)
    forward = forward / np.linalg.norm(forward)
    right = np.cross(forward, camera.up)
    right = right / np.linalg.norm(right)
    up = np.cross(right, forward)
    return _xyz(right), _xyz(up), _xyz(forward)


def _xyz(vector: np.ndarray) -> XYZ:
    return float(vector[0]), float(vector[1]), float(vector[2])
