// What user code may throw: each value is created for one use, because a thrown value may be changed on its way.

export const ODD_THROWS: Readonly<Record<string, () => unknown>> = {
  'an error': () => new RangeError('plain'),
  null: () => null,
  undefined: () => undefined,
  'an empty text': () => '',
  'a number': () => Number.NaN,
  'a bigint': () => 10n,
  'a symbol': () => Symbol('thrown'),
  'a function': () => () => 'thrown',
  'an object without a prototype': () => Object.create(null) as unknown,
  'an object whose toString throws': () => ({
    toString: () => fails('toString'),
    [Symbol.toPrimitive]: fails,
  }),
  'a proxy that is revoked': () => revoked(),
  'a proxy that throws whatever it is asked': () => new Proxy(new Error('hidden'), HOSTILE),
  'an error that is frozen': () => Object.freeze(new Error('frozen')),
  'an error whose name is undefined': () => Object.assign(new Error('nameless'), { name: undefined }),
  'an error whose name is a number': () => Object.assign(new Error('numbered'), { name: 42 }),
  'an error whose name has two lines': () =>
    Object.assign(new Error('two lines'), { name: 'Http\r\n\tError' }),
  'an error whose name is long': () => Object.assign(new Error('long'), { name: '長い名前'.repeat(100) }),
  'an error whose name is cut within a character': () =>
    Object.assign(new Error('cut'), { name: `${'a'.repeat(99)}😀` }),
  'an error whose name is half a surrogate pair': () => Object.assign(new Error('half'), { name: '\ud800' }),
  'an error whose stack throws': () => withGetter(new Error('no stack'), 'stack'),
  'an error whose message throws': () => withGetter(withGetter(new Error('none'), 'stack'), 'message'),
  'an error whose name throws': () => withGetter(new Error('unnamed'), 'name'),
  'an error whose stack is an object': () => Object.assign(new Error('odd stack'), { stack: { at: 1 } }),
  'an error whose stack has no prototype': () =>
    Object.assign(new Error('odder stack'), { stack: Object.create(null) as unknown }),
  'an error whose message is half a surrogate pair': () => new Error('\ud800'),
  'an error whose message is large': () => new Error('m'.repeat(5_000_000)),
  'an error that causes itself': () => {
    const error = new Error('circle')
    error.cause = error
    return error
  },
  'an object that looks like an error': () => ({ name: 'Error', message: 'plain object', stack: 7 }),
}

const HOSTILE: ProxyHandler<Error> = {
  get: () => fails('get'),
  has: () => fails('has'),
  getPrototypeOf: () => fails('getPrototypeOf'),
  ownKeys: () => fails('ownKeys'),
  getOwnPropertyDescriptor: () => fails('getOwnPropertyDescriptor'),
}

function fails(what: string): never {
  throw new Error(`${what} is not to be called`)
}

function revoked(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

function withGetter(error: Error, property: string): Error {
  return Object.defineProperty(error, property, { get: () => fails(property) })
}
