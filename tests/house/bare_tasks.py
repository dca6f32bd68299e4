"""Finds tasks that have no owner: begun neither by `Background` nor by a task group."""

import ast
from collections.abc import Iterator
from typing import TypeAlias, TypeGuard

# What begins work by itself, as a function or as a method of a loop.
_STARTERS = ("create_task", "ensure_future", "run_coroutine_threadsafe")
_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def bare_tasks(code: str) -> Iterator[int]:
    """The lines in which a task begins, or the name of what begins one is taken."""
    yield from _below(ast.parse(code), frozenset())


def _below(node: ast.AST, groups: frozenset[str]) -> Iterator[int]:
    """`groups` are the names that task groups have here."""
    if isinstance(node, _Function):
        groups -= {argument.arg for argument in ast.walk(node) if isinstance(argument, ast.arg)}
    if isinstance(node, ast.AsyncWith):
        groups |= {name for item in node.items if (name := _group(item))}
    if _begins(node, groups):
        yield node.lineno
    for child in ast.iter_child_nodes(node):
        yield from _below(child, groups)


def _begins(node: ast.AST, groups: frozenset[str]) -> TypeGuard[ast.stmt | ast.expr]:
    match node:
        case ast.ImportFrom(module="asyncio" | "asyncio.tasks", names=names):
            return any(alias.name in (*_STARTERS, "Task") for alias in names)
        case ast.Attribute(value=ast.Name(id=name), attr=starter) if starter in _STARTERS:
            return name not in groups
        case ast.Attribute(attr=starter):
            return starter in _STARTERS
        case ast.Call(func=ast.Attribute(value=ast.Name(id="asyncio"), attr="Task")):
            return True
        case ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(value=name), *_]):
            return name in _STARTERS
        case _:
            return False


def _group(item: ast.withitem) -> str | None:
    is_group = ast.unparse(item.context_expr) in ("asyncio.TaskGroup()", "TaskGroup()")
    return item.optional_vars.id if is_group and isinstance(item.optional_vars, ast.Name) else None
