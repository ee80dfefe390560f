"""Counts what holds and what does not, and says which calls of the client were made."""

import functools
import inspect


class Checks:
    def __init__(self):
        self.passed = 0
        self.failed = 0
        self.called = set()

    def equal(self, what, found, expected):
        self.true(what, found == expected, 'found %r, expected %r' % (found, expected))

    def true(self, what, holds, why=''):
        self.passed += bool(holds)
        self.failed += not holds
        print('%s %s%s' % ('ok  ' if holds else 'FAIL', what, '' if holds else ': ' + why))

    def raises(self, what, error, call):
        try:
            found = call()
        except error:
            return self.true(what, True)
        except Exception as other:
            return self.true(what, False, 'raised %r' % other)
        return self.true(what, False, 'gave %r' % (found,))

    def watch(self, *classes):
        """Notes every public call of these classes, and of the classes they stand on."""
        watched = set()
        for cls in classes:
            for name in public_calls(cls):
                watched.add('%s.%s' % (cls.__name__, name))
                setattr(cls, name, self._noting(cls, name))
        return watched

    def _noting(self, cls, name):
        call = inspect.getattr_static(cls, name)
        label = '%s.%s' % (cls.__name__, name)
        if isinstance(call, property):
            return property(self._note(label, call.fget))
        return self._note(label, call)

    def _note(self, label, call):
        @functools.wraps(call)
        def noted(*args, **kwargs):
            self.called.add(label)
            return call(*args, **kwargs)
        return noted

    def finish(self, watched):
        for label in sorted(self.called):
            print('called %s' % label)
        self.equal('every call of the client was made', sorted(watched - self.called), [])
        print('%d passed, %d failed' % (self.passed, self.failed))
        return 1 if self.failed else 0


def public_calls(cls):
    def is_call(name):
        value = inspect.getattr_static(cls, name)
        return inspect.isfunction(value) or isinstance(value, property)
    return [name for name in dir(cls) if is_call(name) and not name.startswith('_') or name in ('__iter__',)]
