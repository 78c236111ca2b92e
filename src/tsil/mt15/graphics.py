"""OpenGL without a screen: which of its providers there is, or what to install.

MuJoCo asks for the choice, ``MUJOCO_GL``, when it is imported, which is long before anybody knows
that there will be a picture. Here it is made when the first picture is drawn.
"""

from __future__ import annotations

import ctypes
import os
import platform
from importlib import import_module
from typing import Any

PLATFORM_DEVICE = 0x313F
"""EGL_PLATFORM_DEVICE_EXT: a display that is a device, not a screen."""
MOST_DEVICES = 16
MISSING = (
    "no OpenGL to draw with: on Debian and Ubuntu, apt-get install libegl1 libgl1-mesa-dri "
    "(or libosmesa6)"
)


def offscreen_context(width: int, height: int) -> Any:
    """An OpenGL context with a buffer of that many pixels, current in this thread.

    ``MUJOCO_GL`` decides if it is set. Otherwise, on Linux, EGL is taken, which draws on a
    graphics card or with Mesa on the processor, and OSMesa where there is no EGL.
    """
    chosen = os.environ.get("MUJOCO_GL", "").strip().lower()
    if not chosen and platform.system() == "Linux":
        chosen = _found()
        os.environ["MUJOCO_GL"] = chosen  # MuJoCo's library reads it again as it draws
    try:
        module = f"mujoco.{chosen}" if chosen in ("egl", "osmesa") else "mujoco.gl_context"
        context = import_module(module).GLContext(width, height)
        context.make_current()
    except Exception as error:  # whatever is missing in a driver shows in a way of its own
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        asked = f" MUJOCO_GL={chosen} gives" if chosen else ""
        raise OSError(f"{MISSING};{asked} {reason}") from error
    return context


def _found() -> str:
    """The provider that this machine has."""
    if _has_egl_device():
        return "egl"
    if _library("libOSMesa.so.8", "libOSMesa.so") is not None:
        return "osmesa"
    raise OSError(MISSING)


def _has_egl_device() -> bool:
    """Whether EGL can be loaded and one of its devices, maybe Mesa's processor, opened.

    Asked of EGL itself: PyOpenGL settles for a provider when it is first imported, and could not
    be asked for OSMesa afterwards.
    """
    egl = _library("libEGL.so.1", "libEGL.so")
    if egl is None:
        return False
    find = egl.eglGetProcAddress
    find.restype, find.argtypes = ctypes.c_void_p, (ctypes.c_char_p,)
    query, display_of = find(b"eglQueryDevicesEXT"), find(b"eglGetPlatformDisplayEXT")
    if not query or not display_of:
        return False
    number, pointer = ctypes.c_int, ctypes.c_void_p
    devices, count = (pointer * MOST_DEVICES)(), number()
    ask = ctypes.CFUNCTYPE(number, number, pointer, pointer)(query)
    if not ask(MOST_DEVICES, devices, ctypes.addressof(count)):
        return False
    show = ctypes.CFUNCTYPE(pointer, number, pointer, pointer)(display_of)
    egl.eglInitialize.argtypes = (pointer, pointer, pointer)
    return any(
        display and egl.eglInitialize(display, None, None)
        for display in (show(PLATFORM_DEVICE, devices[i], None) for i in range(count.value))
    )


def _library(*names: str) -> ctypes.CDLL | None:
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None
