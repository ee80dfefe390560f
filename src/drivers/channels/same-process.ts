import type { Driver } from '../../driver.ts'
import type { Line } from '../wire/line.ts'
import { runIdOf } from '../wire/server-info.ts'

/** Whether commands reach the same server process as the line; true when either side does not report its id. */
export async function isSameProcess(line: Line, commands: Pick<Driver, 'read'>): Promise<boolean> {
  const [info] = commands.read([{ command: 'INFO', args: ['server'] }])
  const [ofLine, ofCommands] = await Promise.all([line.runId, info])
  const runId = runIdOf(String(ofCommands))
  return ofLine === undefined || runId === undefined || ofLine === runId
}
