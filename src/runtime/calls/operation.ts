import type { Argument, Reply, Script } from '../../driver.ts'
import type { LineRun } from '../values/linked.ts'

/** One Lua operation as the compiler describes it: its script and how to speak to it. */
export interface Operation<Arguments, Answer> {
  readonly script: Script & { readonly lines?: readonly LineRun[] }
  /** Where modules have it that were generated before it stood with the script. */
  readonly lines?: readonly LineRun[]
  /** The last part of each key, in the order of KEYS: `meta`, `log` … */
  readonly parts: readonly string[]
  encode(args: Arguments): Argument[]
  decode(reply: Reply): Answer
}

/**
 * The arguments without the last ones that are what the script takes them for anyway: the server spends more
 * on a short argument than on looking at one that is not there.
 */
export function withoutDefaults(args: Argument[], defaults: readonly Argument[]): Argument[] {
  for (let at = defaults.length - 1; at >= 0; at--) {
    if (args[args.length - 1] !== defaults[at]) break
    args.pop()
  }
  return args
}
