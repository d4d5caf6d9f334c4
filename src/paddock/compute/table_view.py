"""Views of tables in compiled kernels: the address and the shape of a 2-D array, without a reference count.

Numba counts the references of every array in a tuple whenever the tuple is passed on, for each vehicle and call. A view
has none; its values are constant while the kernel runs, so that the compiler reads them once where it can. Imported
with Numba, by `kernel`.
"""

# mypy: disable-error-code="no-untyped-call"
import operator
from typing import Any

from numba.core import cgutils, compiler, types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, make_attribute_wrapper, models, register_model


class DistinctArrays(compiler.Compiler):
    """Compiles a kernel whose arrays do not overlap.

    A loop that reads a table at computed places vectorises only if what it stores cannot be part of the table.
    """

    def compile_extra(self, func: Any) -> Any:
        """Compile as Numba does, with arguments that are declared distinct."""
        self.state.flags.noalias = True
        return super().compile_extra(func)


class TableView(types.Type):
    """The type of views: `view[row, column]` and `view.shape`; indices are never negative."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        super().__init__(name=f"TableView({dtype})")


@register_model(TableView)
class TableViewModel(models.StructModel):
    """Address and shape."""

    def __init__(self, manager: Any, view: Any) -> None:
        members = [("data", types.CPointer(view.dtype)), ("shape", types.UniTuple(types.intp, 2))]
        super().__init__(manager, view, members)


make_attribute_wrapper(TableView, "shape", "shape")


@intrinsic
def table_view(typing_context: Any, array: Any) -> Any:
    """Return the view of a C-contiguous array (rows, columns), which must exist as long as the view is used."""

    def generate(context: Any, builder: Any, called: Any, arguments: Any) -> Any:
        source = context.make_array(called.args[0])(context, builder, arguments[0])
        view = cgutils.create_struct_proxy(called.return_type)(context, builder)
        view.data, view.shape = source.data, source.shape
        return view._getvalue()

    return TableView(array.dtype)(array), generate


@infer_global(operator.getitem)
class TableItem(AbstractTemplate):
    """The type of `view[row, column]`."""

    def generic(self, given: Any, named: Any) -> Any:
        """Return the signature, None for other types."""
        table, index = given
        if isinstance(table, TableView) and isinstance(index, types.BaseTuple) and len(index) == 2:
            return signature(table.dtype, table, index)
        return None


@lower_builtin(operator.getitem, TableView, types.BaseTuple)  # type: ignore[untyped-decorator]
def table_item(context: Any, builder: Any, called: Any, arguments: Any) -> Any:
    """Generate the code of `view[row, column]`."""
    view = cgutils.create_struct_proxy(called.args[0])(context, builder, value=arguments[0])
    given = zip(cgutils.unpack_tuple(builder, arguments[1]), called.args[1], strict=True)
    row, column = (context.cast(builder, value, kind, types.intp) for value, kind in given)
    columns = builder.extract_value(view.shape, 1)
    place = builder.add(builder.mul(row, columns), column)
    value = builder.load(builder.gep(view.data, [place]))
    value.set_metadata("invariant.load", builder.module.add_metadata([]))
    return value
