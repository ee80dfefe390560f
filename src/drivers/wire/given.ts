// Describes a wrong value given in place of a client, for the error message.

/** Throws a TypeError that names what is expected (`what`) and what was given. */
export function refuse(what: string, given: unknown): never {
  throw new TypeError(`${what}, not ${nameOf(given)}`)
}

/** True when the value has all of these methods. */
export function can(given: unknown, ...methods: readonly string[]): given is object {
  return isObject(given) && methods.every((method) => typeof Reflect.get(given, method) === 'function')
}

export function isObject(given: unknown): given is object {
  return typeof given === 'object' && given !== null
}

const KNOWN: readonly (readonly [name: string, is: (given: object) => boolean])[] = [
  ['a promise: await it', (given) => can(given, 'then')],
  ['a driver, which goes to perilune() itself', (given) => can(given, 'runMany', 'subscribe', 'healthy')],
  ['a pipeline', (given) => 'isPipeline' in given && given.isPipeline === true],
  ['a transaction', (given) => can(given, 'exec', 'execAsPipeline')],
  ['a pool', (given) => 'totalClients' in given],
  ['a client of ioredis, which goes to ioredis() of perilune/ioredis', (given) => can(given, 'callBuffer')],
  [
    'a client of node-redis, which goes to nodeRedis() of perilune/node-redis',
    (given) => can(given, 'sendCommand', 'duplicate') || can(given, 'sendCommand', 'nodeClient'),
  ],
  ['a legacy() client', (given) => can(given, 'sendCommand', 'multi')],
]

function nameOf(given: unknown): string {
  if (given === null || given === undefined) return String(given)
  if (!isObject(given)) return `a ${typeof given}`
  return KNOWN.find(([, is]) => is(given))?.[0] ?? 'an object that is none'
}
