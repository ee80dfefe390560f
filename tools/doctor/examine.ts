// Runs the checks. Each settles: what takes too long, or fails to ask, is unknown.

import type { Check } from './check.ts'
import { ALONE, CHECKS, FIRST } from './checks/all.ts'
import { discover } from './discovery.ts'
import { type Finding, unknown } from './finding.ts'
import { inTime, SilentError } from './in-time.ts'
import { messageOf } from './link.ts'
import { type DoctorOptions, Server } from './server.ts'

export interface Examined {
  readonly check: Check
  readonly finding: Finding
  /** False where no server was reached. */
  readonly ran: boolean
}

/** `use` gets the server while it is connected. */
export async function examine<Result>(
  options: DoctorOptions,
  use: (server: Server, examined: readonly Examined[]) => Result,
): Promise<Result> {
  const server = new Server(options, await discover(options))
  try {
    const findings = new Map<Check, Finding>()
    const run = async (check: Check): Promise<void> => {
      findings.set(check, await settled(check, server))
    }
    const reached = server.nodes.length > 0
    const wanted = CHECKS.filter((check) => reached || FIRST.has(check))
    await Promise.all(wanted.filter((check) => !ALONE.includes(check)).map(run))
    for (const check of wanted.filter((each) => ALONE.includes(each))) await run(check)
    const examined = CHECKS.map((check) => ({
      check,
      finding: findings.get(check) ?? unknown('The doctor reached no server.'),
      ran: findings.has(check),
    }))
    return use(server, examined)
  } finally {
    server.close()
  }
}

async function settled(check: Check, server: Server): Promise<Finding> {
  const { timeoutMs } = server.options.access
  try {
    return await inTime(Promise.resolve(check.examine(server)), timeoutMs * (check.patience ?? 1))
  } catch (error) {
    if (error instanceof SilentError) {
      return unknown(
        `The server gave ${error.message}.`,
        'Run the doctor again, with a longer --timeout if the server is far away.',
      )
    }
    return unknown(`The doctor could not ask: ${messageOf(error)}.`, 'Run the doctor again.')
  }
}
