// How commands are sent by ioredis, and what it must not send later (docs/decisions/0120).

import type { Cluster, Command, Redis } from 'ioredis'
import { ConnectionLostError } from '../../driver.ts'
import type { Fate } from '../wire/pending-runs.ts'
import type { WireArgument } from '../wire/wire.ts'

/** Sends a command as `call` of ioredis does, or as `callBuffer`. */
export type SendCommand = (
  command: string,
  args: WireArgument[],
  bytes: boolean,
  fate?: Fate,
) => Promise<unknown>

/** Also marks our commands. */
const ignored = (): void => undefined

/**
 * Avoids four behaviors of ioredis. First, with auto-pipelining a cluster would send our calls in pipelines, which do
 * not follow MOVED. Second, with a `commandTimeout` it rejects calls whose answer is still outstanding, which hides a
 * silent connection; our calls have their own deadlines. Third, it copies the arguments of every call with `flat`,
 * which for a hundred arguments costs more than the rest of the command. So arguments, which are texts already, are put
 * into the command when it is sent. Fourth, without a limit of retries it keeps commands until it has connected, however
 * long that takes.
 */
export function senderOf(client: Redis | Cluster): SendCommand {
  let texts: string[] = []
  let ofCall: Fate | undefined
  const own = {
    options: { ...client.options, enableAutoPipelining: false },
    sendCommand(command: Command): unknown {
      if (texts.length > 0) command.args = texts
      command.setTimeout = ignored
      if (client.isCluster) return sendInCluster(client as Cluster, command, ofCall)
      // Ready, while a dropped connection ends: kept, too.
      const isUp = client.status === 'ready' && (client as Redis).stream.writable
      if (isUp) return client.sendCommand(command)
      return sendOrKeep(command, ofCall, () => client.sendCommand(command)).sending
    },
  }
  const caller: Pick<Redis, 'call' | 'callBuffer'> = Object.setPrototypeOf(own, client)
  return (command, args, bytes, fate) => {
    ofCall = fate
    const areTexts = args.every((arg) => typeof arg === 'string')
    texts = areTexts ? args : []
    const now = areTexts ? [] : args
    return bytes ? caller.callBuffer(command, now) : caller.call(command, now)
  }
}

/** For commands without an end of their own. */
const LONGEST_KEPT_MS = 60_000
/** After its end a stalled process may still send a call; and clocks may be set. */
const GRACE_MS = 1000
const WALL_GRACE_MS = 30_000

/** What became of a command that the client may keep. */
interface Kept {
  readonly sending: unknown
  isWritten(): boolean
  /** The client will send it again. */
  keep(): void
}

/**
 * Where the client keeps the command for longer than its caller waits for it, the caller gets an error, and PING is sent
 * in its place. Otherwise it might happen after its own repetition and what followed that, or after the server has
 * forgotten that it happened already.
 */
function sendOrKeep(command: Command, fate: Fate | undefined, send: () => unknown): Kept {
  const by = fate?.by ?? performance.now() + LONGEST_KEPT_MS
  // The monotonic clock omits the time in which the machine was suspended.
  const byWall = Date.now() + by - performance.now()
  const toWritable = command.toWritable.bind(command)
  let [isWritten, isKept] = [false, false]
  command.toWritable = (socket) => {
    isWritten = true
    const isLate = performance.now() > by + GRACE_MS || Date.now() > byWall + WALL_GRACE_MS
    if (fate?.isOver === true || (isKept && isLate)) {
      command.reject(new ConnectionLostError('the call has ended before it was sent', false))
      command.name = 'ping'
      command.args = []
    }
    return toWritable(socket)
  }
  const sending = send()
  isKept = !isWritten
  const keep = (): void => {
    isKept = true
  }
  return { sending, isWritten: () => isWritten, keep }
}

/** A cluster would send a command again whose connection is lost, also one that has been written. */
function sendInCluster(cluster: Cluster, command: Command, fate: Fate | undefined): unknown {
  const { reject } = command
  const { sending, isWritten, keep } = sendOrKeep(command, fate, () => cluster.sendCommand(command))
  // Redirections and errors of the server: the command did not happen.
  const { reject: sendAgain } = command
  command.reject = (error) => {
    keep()
    ;(isWritten() && isClosed(error) ? reject : sendAgain).call(command, error)
  }
  return sending
}

function isClosed(error: Error): boolean {
  return error.message === 'Connection is closed.'
}

/** The part of the client that names what it will send again. */
interface Resending {
  readonly prevCommandQueue?: {
    readonly length: number
    shift(): { readonly command: Command }
    push(item: { readonly command: Command }): void
  } | null
}

/**
 * ioredis would send commands without an answer again on its next connection. Those of ours are repeated by their
 * callers, unless they must not be.
 */
export function forgetSent(client: Redis): void {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the property is not declared
  const { prevCommandQueue: sent } = client as unknown as Resending
  for (let left = sent?.length ?? 0; sent && left > 0; left -= 1) {
    const item = sent.shift()
    if (item.command.setTimeout !== ignored) sent.push(item)
  }
}
