import { fencedGet, fencedSet } from '../generated/lock.ts'
import { checkOptions, checkToken } from '../runtime/values/arguments.ts'
import { type Codec, codecOr, jsonOf } from '../runtime/values/codec.ts'
import { checkName } from '../runtime/values/keys.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import { Unit } from '../runtime/connection/unit.ts'

export interface FencedOptions<Value> {
  /** How the value becomes bytes; default JSON. */
  codec?: Codec<Value>
}

const SINCE = '6.2.0'

/**
 * A value in Redis that only the newest holder of a lock can write: it keeps the token that it was written
 * with, and refuses smaller ones.
 */
export class Fenced<Value> {
  readonly name: string
  readonly #unit: Unit
  readonly #codec: Codec<Value>

  constructor(runtime: Runtime, name: string, options: FencedOptions<Value> = {}) {
    checkOptions('options', options, ['codec'])
    this.name = checkName('name', name)
    this.#unit = new Unit(runtime, { structure: 'lock', name: this.name, since: SINCE })
    this.#codec = codecOr(options.codec, () => jsonOf<Value>('value'))
  }

  /** Stores the value under a lease's token. False: refused, for a greater token has written since. */
  async set(value: Value, token: number): Promise<boolean> {
    const args = {
      codec: this.#codec.name,
      token: checkToken(token),
      value: this.#codec.encode(value),
    }
    // A copy that comes late does not undo what this process has written since.
    const answer = await this.#unit.runOnce(fencedSet, ({ caller, call }) => ({
      ...args,
      caller,
      call: Number(call),
    }))
    return answer.status === 'stored'
  }

  /** The value and the token that wrote it, or null. */
  async get(): Promise<{ value: Value; token: number } | null> {
    const answer = await this.#unit.run(fencedGet, { codec: this.#codec.name })
    if (answer.status === 'absent') return null
    return { value: this.#codec.decode(answer.value), token: answer.token }
  }
}
