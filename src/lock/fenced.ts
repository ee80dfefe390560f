import { fencedGet, fencedSet } from '../generated/lock.ts'
import { checkOptions, checkToken } from '../runtime/values/arguments.ts'
import { checkEncoded, type Codec, codecOr, jsonOf } from '../runtime/values/codec.ts'
import { checkName } from '../runtime/values/keys.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import { Unit } from '../runtime/connection/unit.ts'

export interface FencedOptions<Value> {
  /** How the value becomes bytes; it is stored with the value, and another codec is rejected. Default: JSON. */
  codec?: Codec<Value>
}

const SINCE = '6.2.0'

/**
 * A value in Redis that only the newest holder of a lock can write. It is stored with the token of its writer, and a
 * write with a smaller token is rejected.
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

  /**
   * Stores the value with the token of a lease. Resolves to false, and stores nothing, when a greater token has
   * already written.
   */
  async set(value: Value, token: number): Promise<boolean> {
    const args = {
      codec: this.#codec.name,
      token: checkToken(token),
      value: checkEncoded('value', this.#codec.encode(value)),
    }
    // A late copy of this call must not undo a newer write of this process.
    const answer = await this.#unit.runOnce(fencedSet, ({ caller, call }) => ({
      ...args,
      caller,
      call: Number(call),
    }))
    return answer.status === 'stored'
  }

  /** The value and the token of its writer; null when nothing was ever stored. */
  async get(): Promise<{ value: Value; token: number } | null> {
    const answer = await this.#unit.run(fencedGet, { codec: this.#codec.name })
    if (answer.status === 'absent') return null
    return { value: this.#codec.decode(answer.value), token: answer.token }
  }
}
