"""Only what is called from Python, or by address, becomes machine code; other functions are linked into their callers.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm
from numba.core.caching import FunctionCache
from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
from numba.core.compiler_lock import global_compiler_lock
from numba.core.environment import lookup_environment
from numba.core.registry import CPUDispatcher
from numba.core.sigutils import normalize_signature

_ENVIRONMENT_PREFIX = "_ZN08NumbaEnv"


class DeferredLibrary(JITCodeLibrary):
    """The LLVM code of a function, which is optimized and made machine code when its address is asked for."""

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        self._bitcode = None

    def add_linking_library(self, library: Any) -> None:
        if not isinstance(library, DeferredLibrary):
            library._ensure_finalized()
        self._linking_libraries.append(library)

    def _callees(self) -> list[Any]:
        finished: dict[Any, None] = {}
        seen = {self}

        def visit(library: Any) -> None:
            seen.add(library)
            for callee in library._linking_libraries:
                if callee not in seen:
                    visit(callee)
            finished[library] = None

        visit(self)
        return list(finished)[-2::-1]

    def _get_module_for_linking(self) -> Any:
        if self._shared_module is None:
            if self._bitcode is not None:
                module = llvm.parse_bitcode(self._bitcode)
            else:
                module = self._final_module.clone()
            for function in module.functions:
                if not function.is_declaration and function.linkage == llvm.Linkage.external:
                    function.linkage = llvm.Linkage.linkonce_odr
            self._shared_module = module
        return self._shared_module

    def finalize(self) -> None:
        self._get_module_for_linking()
        self._linking_libraries = self._callees()
        super().finalize()

    def _optimize_final_module(self) -> None:
        if self._object_caching_enabled:
            self._bitcode = self._final_module.as_bitcode()
        super()._optimize_final_module()

    def _finalize_final_module(self) -> None:
        super()._finalize_final_module()
        for variable in self._final_module.global_variables:
            if variable.name.startswith(_ENVIRONMENT_PREFIX):
                environment = lookup_environment(variable.name)
                if environment is not None:
                    self._codegen.set_env(variable.name, environment)

    def serialize_using_object_code(self) -> tuple[Any, ...]:
        if not self._finalized:
            module = self._final_module.clone()
            for library in self._callees():
                module.link_in(library._get_module_for_linking(), preserve=True)
            return self.name, None, module.as_bitcode(), ()
        module = self._final_module
        symbols = [
            value.name for values in (module.functions, module.global_variables) for value in values
            if not value.is_declaration
        ]
        return self.name, self._get_compiled_object(), self._bitcode, symbols

    @classmethod
    def _unserialize(cls, codegen: Any, state: tuple[Any, ...]) -> Any:
        name, object_code, bitcode, symbols = state
        library = codegen.create_library(name)
        library.enable_object_caching()
        library._bitcode = bitcode
        if object_code is None:
            library._final_module = llvm.parse_bitcode(bitcode)
        else:
            library._set_compiled_object(object_code)
            library._finalize_final_module()
            codegen._engine._defined_symbols.update(symbols)
        return library

    def get_pointer_to_function(self, name: str) -> int:
        if not self._finalized:
            try:
                if self._final_module.get_function(name).is_declaration:
                    return 0
            except NameError:
                return 0
        return super().get_pointer_to_function(name)


_set_env = JITCPUCodegen.set_env


def _set_defined_env(self: Any, name: str, environment: Any) -> None:
    if self._engine.is_symbol_defined(name):
        _set_env(self, name, environment)


JITCPUCodegen._library_class = DeferredLibrary
JITCPUCodegen.set_env = _set_defined_env


class _EntryCache(FunctionCache):
    """Keeps what has machine code."""

    def save_overload(self, signature: Any, result: Any) -> None:
        if result.library._finalized:
            super().save_overload(signature, result)


class KernelDispatcher(CPUDispatcher):
    """A compiled function that gets machine code when Python calls it, or asks for its address."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self._compiling_for_caller = 0

    def enable_caching(self) -> None:
        self._cache = _EntryCache(self.py_func)

    def get_call_template(self, arguments: Any, keywords: Any) -> Any:
        self._compiling_for_caller += 1
        try:
            return super().get_call_template(arguments, keywords)
        finally:
            self._compiling_for_caller -= 1

    def add_overload(self, result: Any) -> None:
        if result.library._finalized:
            super().add_overload(result)
        else:
            self.overloads[tuple(result.signature.args)] = result

    def compile(self, signature: Any) -> Any:
        with global_compiler_lock:
            entry_point = super().compile(signature)
            if self._compiling_for_caller:
                return entry_point
            arguments, _ = normalize_signature(signature)
            return self._with_machine_code(tuple(arguments))

    def _with_machine_code(self, arguments: Any) -> Any:
        result = self.overloads[arguments]
        library, description = result.library, result.fndesc
        if not library._finalized:
            context = result.target_context.subtarget(environment=result.environment, fndesc=description)
            with context.push_code_library(library):
                context.create_cpython_wrapper(
                    library, description, result.environment, result.call_helper, release_gil=True
                )
            entry_point = context.get_executable(library, description, result.environment)
            self.targetctx.insert_user_function(entry_point, description, [library])
            result = result._replace(entry_point=entry_point)
            self.add_overload(result)
            self._cache.save_overload(arguments, result)
        return result.entry_point
