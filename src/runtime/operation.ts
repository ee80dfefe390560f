import type { Argument, Reply, Script } from '../driver.ts'

/** One Lua operation as the compiler describes it: its script and how to speak to it. */
export interface Operation<Arguments, Answer> {
  readonly script: Script
  /** The last part of each key, in the order of KEYS: `meta`, `log` … */
  readonly parts: readonly string[]
  /** Where each run of built lines comes from: first built line, file, first line there. */
  readonly lines: readonly (readonly [built: number, file: string, line: number])[]
  encode(args: Arguments): Argument[]
  decode(reply: Reply): Answer
}
