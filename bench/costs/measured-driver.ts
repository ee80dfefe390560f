// A driver whose script calls are measured: how long each keeps the server's processor busy, and how many bytes it answers.

import type { Driver } from 'perilune'
import type { Reply, Script, ScriptCall } from '../../src/driver.ts'
import { rewriting } from '../../test/faults/rewriting-driver.ts'
import { timedOnProcessor } from '../harness/on-processor.ts'

/** Where each script notes its time, in seconds. */
export const TIMES = 'measured times'

export interface Answered {
  readonly script: string
  readonly bytes: number
}

/** The scripts note their times from when `isMeasuring`; `answered` gets what they answer. */
export function measured(
  driver: Driver,
  isMeasuring: () => boolean,
  answered: (call: Answered) => void,
): Driver {
  const timing = rewriting(driver, timed, isMeasuring)
  const note = async (script: Script, reply: Promise<Reply>): Promise<Reply> => {
    const got = await reply
    if (isMeasuring()) answered({ script: script.name, bytes: bytesOf(got) })
    return got
  }
  return Object.assign(Object.create(timing) as Driver, {
    run: (call: ScriptCall) => note(call.script, timing.run(call)),
    runMany: (calls: readonly ScriptCall[]) =>
      timing.runMany(calls).map((reply, at) => note((calls[at] as ScriptCall).script, reply)),
    read: (reads: Parameters<Driver['read']>[0]) => driver.read(reads),
    write: (call: Parameters<Driver['write']>[0]) => driver.write(call),
    load: (script: Script) => timing.load(script),
  })
}

function timed({ name, source }: Script): string {
  return timedOnProcessor(source, `redis.call('RPUSH', '${TIMES}', '${name} ' .. took)`)
}

/** As RESP2 sends it, but for the lengths of lengths. */
function bytesOf(reply: Reply): number {
  if (reply === null) return 5
  if (typeof reply === 'number') return String(reply).length + 3
  if (Array.isArray(reply)) return reply.reduce<number>((sum, each) => sum + bytesOf(each), 5)
  return Buffer.byteLength(reply) + 8
}
