import type { Argument, Reply, Script } from '../../driver.ts'
import type { LineRun } from '../values/linked.ts'

/** One Lua operation as described by the compiler: its script, its arguments and its answer. */
export interface Operation<Arguments, Answer> {
  readonly script: Script & { readonly lines?: readonly LineRun[] }
  /** Set by modules generated before the lines were part of the script. */
  readonly lines?: readonly LineRun[]
  /** The last part of each key, in the order of KEYS: `meta`, `log` … */
  readonly parts: readonly string[]
  encode(args: Arguments): Argument[]
  decode(reply: Reply): Answer
}

/**
 * The arguments without trailing ones that equal the script's defaults: a short argument costs the server more than a
 * missing one.
 */
export function withoutDefaults(args: Argument[], defaults: readonly Argument[]): Argument[] {
  for (let at = defaults.length - 1; at >= 0; at--) {
    if (args[args.length - 1] !== defaults[at]) break
    args.pop()
  }
  return args
}
