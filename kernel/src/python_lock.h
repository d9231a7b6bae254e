// Python's lock, taken and let go where the process may be ending.
//
// Once a process ends, CPython before 3.14 unwinds any other thread that asks for the lock. Our
// frames, nanobind's and destructors among them, may not be unwound like that: the process would
// abort. Such a thread waits here instead until the process is gone, as it does from 3.14 on.
#pragma once

#include <nanobind/nanobind.h>
#include <unistd.h>

#include <type_traits>
#include <utility>

namespace joiner {

// Calls what is C, and so throws nothing: whatever unwinds it is the end of the process.
template <typename Call>
auto outliving(Call&& call) {
    struct Watch {
        bool returned = false;
        ~Watch() {
            while (!returned) pause();
        }
    } watch;
    if constexpr (std::is_void_v<decltype(call())>) {
        call();
        watch.returned = true;
    } else {
        auto found = call();
        watch.returned = true;
        return found;
    }
}

// Lets go of the lock; in its place `nb::gil_scoped_release` would abort as said above.
class Unlocked {
public:
    Unlocked() : thread_(PyEval_SaveThread()) {}
    Unlocked(const Unlocked&) = delete;
    Unlocked& operator=(const Unlocked&) = delete;
    ~Unlocked() {
        outliving([this] { PyEval_RestoreThread(thread_); });
    }

private:
    PyThreadState* thread_;
};

// Takes the lock, whether or not this thread has it.
class Locked {
public:
    Locked() : state_(outliving([] { return PyGILState_Ensure(); })) {}
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;
    ~Locked() { PyGILState_Release(state_); }

private:
    PyGILState_STATE state_;
};

// Calls a method, in which Python may let go of the lock and ask for it again. What the caller
// holds by then must not be touched if that is the end, hence no temporaries around the call.
template <typename... Given>
nanobind::object call_method(nanobind::handle owner, const char* name, Given&&... given) {
    const nanobind::object method = owner.attr(name);
    const nanobind::tuple arguments = nanobind::make_tuple(std::forward<Given>(given)...);
    PyObject* found =
        outliving([&] { return PyObject_Call(method.ptr(), arguments.ptr(), nullptr); });
    if (!found) nanobind::raise_python_error();
    return nanobind::steal(found);
}

}  // namespace joiner
