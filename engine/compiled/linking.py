"""Faster compilation: only functions called from Python or by address become machine code.

numba optimizes every function together with its callees and generates and stores machine code for it, even if only
compiled code calls it. That takes half the processor time of compiling the engine. This module changes three things:

* A function that only compiled code calls remains LLVM code and is linked into its callers.
* Short functions are optimized separately, once, before linking.
* The cache holds only machine code. If a cached function is needed as a callee, it is compiled again: numba numbers
  functions by process, so names in LLVM code from two processes could clash.

The module relies on private parts of numba. With an unknown version of numba, or if ``ELOLAB_LINKING`` is ``numba``, it
does nothing.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator
from typing import Any

import llvmlite.binding as llvm
import numba
from numba.core.caching import FunctionCache
from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
from numba.core.compiler_lock import global_compiler_lock
from numba.core.environment import lookup_environment
from numba.core.registry import CPUDispatcher
from numba.core.runtime.nrt import rtsys
from numba.core.sigutils import normalize_signature
from numba.core.targetconfig import TargetConfig

from elolab.engine.compiled.sources import NUMBA_LINKING

KNOWN_VERSION = "0.68."
"""Prefix of the numba versions that this module supports."""
SHORT_BLOCKS = 40
"""Maximum number of basic blocks of a function that is optimized separately.

With 0 the search is 1 % slower. With 200 the search is no faster, but compilation takes a third more processor time.
"""

_ENVIRONMENT_PREFIX = "_ZN08NumbaEnv"  # numba's name of the variable for a function's Python objects


class DeferredLibrary(JITCodeLibrary):
    """The LLVM code of a function, which becomes machine code when its address is requested."""

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        self.is_loaded = False
        self._needs_no_other = False

    def add_linking_library(self, library: Any) -> None:
        """Record the library of a called function, without generating machine code for it."""
        if not isinstance(library, DeferredLibrary):
            library._ensure_finalized()
        self._linking_libraries.append(library)

    def finalize(self) -> None:
        """Link the called functions, optimize, and generate machine code."""
        self._get_module_for_linking()  # before this one's code is changed
        self._linking_libraries = self._callees()
        super().finalize()

    def get_pointer_to_function(self, name: str) -> int:
        """The address of a function; 0 if this library does not contain it."""
        if not self._finalized:
            try:
                self._final_module.get_function(name)
            except NameError:
                return 0
        return int(super().get_pointer_to_function(name))

    def serialize_using_object_code(self) -> tuple[str, bytes, list[str]]:
        """The data for the cache: the library's name, its machine code, and the symbols that the code defines."""
        module = self._final_module
        values = [*module.functions, *module.global_variables]
        return self.name, self._get_compiled_object(), [value.name for value in values if not value.is_declaration]

    @classmethod
    def _unserialize(cls, codegen: Any, state: tuple[str, bytes, list[str]]) -> DeferredLibrary:
        name, machine_code, symbols = state
        library: DeferredLibrary = codegen.create_library(name)
        library.is_loaded = True
        library.enable_object_caching()
        library._set_compiled_object(machine_code)
        library._finalize_final_module()
        codegen._engine._defined_symbols.update(symbols)
        return library

    def _callees(self) -> list[Any]:
        """Libraries of all called functions, direct and indirect, in linking order: callers before the functions that
        they call.

        LLVM links a function only if code that was linked earlier calls it.
        """
        finished: dict[Any, None] = {}

        def visit(library: Any) -> None:
            for callee in library._linking_libraries:
                if callee is not self and callee not in finished:
                    callee._get_module_for_linking()
                    if not getattr(callee, "_needs_no_other", True):
                        visit(callee)
                    finished[callee] = None

        visit(self)
        return list(reversed(finished))

    def _get_module_for_linking(self) -> Any:
        if self._shared_module is None:
            module = self._final_module.clone()
            self._optimize_if_short(module)
            for function in module.functions:
                if not function.is_declaration and function.linkage == llvm.Linkage.external:
                    # Several callers may contain it; callers that inline it need no copy.
                    function.linkage = llvm.Linkage.linkonce_odr
            self._shared_module = module
        return self._shared_module

    def _optimize_if_short(self, module: Any) -> None:
        blocks = sum(1 for function in module.functions if not function.is_declaration for _ in function.blocks)
        callees = self._callees()
        if blocks > SHORT_BLOCKS or not all(getattr(callee, "_needs_no_other", True) for callee in callees):
            return
        for callee in callees:
            module.link_in(callee._get_module_for_linking(), preserve=True)
        own, self._final_module = self._final_module, module
        try:
            self._optimize_final_module()
        finally:
            self._final_module = own
        self._needs_no_other = True

    def _finalize_final_module(self) -> None:
        super()._finalize_final_module()
        for variable in self._final_module.global_variables:
            if variable.name.startswith(_ENVIRONMENT_PREFIX):
                environment = lookup_environment(variable.name)
                if environment is not None:
                    _set_environment(self._codegen, variable.name, environment)


class _MachineCodeCache(FunctionCache):
    """A function's on-disk cache that holds machine code only."""

    def load_overload(self, signature: Any, context: Any) -> Any:
        """Load the function's machine code without numba's setup of declarations, which only compilation needs."""
        rtsys.initialize(context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(signature, context)

    def save_overload(self, signature: Any, result: Any) -> None:
        if result.library._finalized:
            super().save_overload(signature, result)


class KernelDispatcher(CPUDispatcher):
    """A compiled function that gets machine code only when Python calls it or its address is requested.

    Its options must include ``no_cpython_wrapper``; the wrapper for calls from Python is created together with the
    machine code.
    """

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self._calls_in_typing = 0

    def enable_caching(self) -> None:
        """Use ``_MachineCodeCache`` as this function's on-disk cache."""
        self._cache = _MachineCodeCache(self.py_func)

    def get_call_template(self, arguments: Any, keywords: Any) -> Any:
        """Infer the types of a call in compiled code. The called function is compiled to LLVM code only."""
        self._calls_in_typing += 1
        try:
            return super().get_call_template(arguments, keywords)
        finally:
            self._calls_in_typing -= 1

    def compile(self, signature: Any) -> Any:
        """Compile for a signature: to LLVM code while a caller's types are inferred, otherwise to machine code."""
        with global_compiler_lock:
            arguments = tuple(normalize_signature(signature)[0])
            if self._calls_in_typing:
                return self._compile_for_linking(arguments)
            with rare_garbage_collection():
                super().compile(signature)
                return self._with_machine_code(arguments)

    def _compile_for_linking(self, arguments: tuple[Any, ...]) -> Any:
        known: Any = self.overloads.get(arguments)
        if known is not None and known.library.is_loaded:
            del self.overloads[arguments]  # Python keeps calling the loaded code
        cache = self._cache
        cache.disable()
        try:
            return super().compile(arguments)
        finally:
            cache.enable()

    def add_overload(self, result: Any) -> None:
        """Register a compilation result; Python can call it only if it has machine code."""
        if result.library._finalized:
            super().add_overload(result)
        else:
            self.overloads[tuple(result.signature.args)] = result

    def _with_machine_code(self, arguments: tuple[Any, ...]) -> Any:
        result: Any = self.overloads[arguments]
        library, description = result.library, result.fndesc
        if not library._finalized:
            context = result.target_context.subtarget(environment=result.environment, fndesc=description)
            with context.push_code_library(library):
                context.create_cpython_wrapper(
                    library,
                    description,
                    result.environment,
                    result.call_helper,
                    release_gil=self.targetoptions["nogil"],
                )
            entry_point = context.get_executable(library, description, result.environment)
            self.targetctx.insert_user_function(entry_point, description, [library])
            result = result._replace(entry_point=entry_point)
            self.add_overload(result)
            self._cache.save_overload(arguments, result)
        return result.entry_point


@contextlib.contextmanager
def rare_garbage_collection() -> Iterator[None]:
    """A context manager that makes garbage collections rare: they usually take a tenth of the compilation time."""
    before = gc.get_threshold()
    if before[0]:  # else somebody switched it off
        gc.set_threshold(max(before[0], 20_000), before[1], max(before[2], 100))
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _values(flags: Any) -> dict[str, Any]:
    """Faster equivalent of ``TargetConfig.values``, which numba runs for every call whose types it infers."""
    defaults = _DEFAULTS.get(type(flags))
    if defaults is None:
        defaults = _DEFAULTS[type(flags)] = {name: option.default for name, option in flags.options.items()}
    return {**defaults, **flags._values}


_DEFAULTS: dict[type, dict[str, Any]] = {}
_set_environment: Any = getattr(JITCPUCodegen, "set_env", None)


def _set_environment_if_linked(self: Any, name: str, environment: Any) -> None:
    """Replaces ``JITCPUCodegen.set_env`` and skips functions that are not linked yet.

    ``_finalize_final_module`` sets the environments of the skipped functions later.
    """
    if self._engine.is_symbol_defined(name):
        _set_environment(self, name, environment)


def patch_numba() -> bool:
    """Replace functions of numba by functions of this module, and return true. For an unknown version of numba, do
    nothing and return false.
    """
    parts = {
        JITCPUCodegen: ("_library_class", "set_env"),
        JITCodeLibrary: ("_optimize_final_module", "_finalize_final_module", "_get_module_for_linking", "_unserialize"),
        TargetConfig: ("values",),
        FunctionCache: ("_load_overload", "_guard_against_spurious_io_errors"),
    }
    known = all(hasattr(owner, name) for owner, names in parts.items() for name in names)
    if NUMBA_LINKING or not known or not numba.__version__.startswith(KNOWN_VERSION):
        return False
    if JITCPUCodegen._library_class is not JITCodeLibrary:
        return False
    setattr(JITCPUCodegen, "_library_class", DeferredLibrary)  # noqa: B010 - parts of another package are replaced
    setattr(JITCPUCodegen, "set_env", _set_environment_if_linked)  # noqa: B010
    setattr(TargetConfig, "values", _values)  # noqa: B010
    return True


IS_DEFERRED = patch_numba()
"""Whether ``patch_numba`` has patched numba. If it has not, ``KernelDispatcher`` must not be used."""
