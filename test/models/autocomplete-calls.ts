// An index takes as many of its arguments as one script call has work for. The entries that a call may also have
// removed must be known before the next one.

import type { Driver } from 'perilune'
import type { Reply } from '../../src/driver.ts'

/**
 * The driver, which waits for `learn` after each call that added or removed: how many entries, the first ones, it took.
 */
export function learning(driver: Driver, learn: (taken: number) => Promise<void>): Driver {
  const run: Driver['run'] = async (call) => {
    const reply = await driver.run(call)
    const taken = takenOf(call.script.name, reply)
    if (taken !== null) await learn(taken)
    return reply
  }
  return Object.assign(Object.create(driver) as Driver, {
    run,
    read: (reads: Parameters<Driver['read']>[0]) => driver.read(reads),
    info: () => driver.info(),
    close: () => driver.close(),
    healthy: () => driver.healthy(),
  })
}

function takenOf(script: string, reply: Reply): number | null {
  const isWrite = script === 'autocomplete/add' || script === 'autocomplete/remove'
  return isWrite && Array.isArray(reply) ? Number(reply.at(-1)) : null
}
