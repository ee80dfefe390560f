// A call of every public method, as the first one that a process makes. A new method needs its call here: the
// compiler requires it, and so does first-calls.test.ts.

import type { Perilune } from 'perilune'

/** Passed on to calls that can be ended before their time. */
export interface Ending {
  readonly signal?: AbortSignal
}

/** A call that takes an `Ending` can be ended. Iterators are asked for their first item. */
export type Call<Handle> = (handle: Handle, ending: Ending) => unknown

/**
 * How a call ends while no server answers: it fails by its deadline, it returns a value anyway, or it continues until
 * the instance is closed.
 */
export type Outcome = 'fails' | 'gives' | 'goes on'

export interface PublicCall {
  /** `Feed.append`; when a class has several groups, with the group. */
  readonly name: string
  readonly outcome: Outcome
  readonly canBeEnded: boolean
  run(redis: Perilune, ending: Ending): unknown
}

/** The calls of one class. */
export interface Group {
  readonly className: string
  open(redis: Perilune): object
  readonly methods: readonly string[]
  readonly calls: readonly PublicCall[]
}

class Odd<Handle> {
  readonly outcome: Outcome
  readonly call: Call<Handle>

  constructor(outcome: Outcome, call: Call<Handle>) {
    this.outcome = outcome
    this.call = call
  }
}

/** It needs no server, or does without. */
export function gives<Handle>(call: Call<Handle>): Odd<Handle> {
  return new Odd('gives', call)
}

/** It is endless, and survives every outage. */
export function goesOn<Handle>(call: Call<Handle>): Odd<Handle> {
  return new Odd('goes on', call)
}

type Methods<Handle> = {
  [Name in keyof Handle]: Handle[Name] extends (...args: never[]) => unknown ? Name : never
}[keyof Handle]

export type CallsOf<Handle> = { readonly [Name in Methods<Handle>]: Call<Handle> | Odd<Handle> }

/** `what` distinguishes several groups of one class. */
export function group<Handle extends object>(
  className: string,
  open: (redis: Perilune) => Handle,
  calls: CallsOf<Handle>,
  what = '',
): Group {
  const methods = Reflect.ownKeys(calls).map(String)
  const all = Reflect.ownKeys(calls).map((key): PublicCall => {
    const given: Call<Handle> | Odd<Handle> = Reflect.get(calls, key)
    const { outcome, call } = given instanceof Odd ? given : new Odd<Handle>('fails', given)
    return {
      name: `${className}.${String(key)}${what === '' ? '' : ` (${what})`}`,
      outcome,
      canBeEnded: call.length > 1,
      run: (redis, ending) => call(open(redis), ending),
    }
  })
  return { className, open, methods, calls: all }
}
