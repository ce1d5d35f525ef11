"""What `homenode sharing` prints of call stacks and of bytes."""

from homenode.cli.sharing import _calls, offsets


def _frame(function: str, file: str = "/home/me/main.cc") -> dict[str, object]:
    return {"function": function, "file": file, "line": 7}


def test_frames_of_the_library_are_counted_and_not_shown() -> None:
    stack = [
        _frame("Matrix::Matrix(long)"),
        _frame("void std::_Construct<Matrix, long&>(Matrix*, long&)", ""),
        _frame("_ZSt11make_sharedI6MatrixJRlEESt10shared_ptrIT_EDpOT0_", ""),
        _frame("fill(int*)", "/usr/include/c++/12/bits/stl_algo.h"),
        _frame("train(std::vector<int, std::allocator<int> > const&)"),
        _frame("std::thread::join()", ""),
        _frame("main"),
    ]
    assert list(_calls(stack)) == [
        "main.cc:7 (Matrix::Matrix(long))",
        "(3 frames of the library)",
        "main.cc:7 (train(std::vector<int, std::allocator<int> > const&))",
        "(1 frame of the library)",
        "main.cc:7 (main)",
    ]


def test_bytes_do_not_look_like_indices() -> None:
    assert offsets({"offsets": [117744, 117807]}) == "+117744..+117807"
