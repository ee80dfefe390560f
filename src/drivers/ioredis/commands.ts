// How commands are sent by ioredis, and what it must not send later.

import type { Cluster, Command, Redis } from 'ioredis'
import type { WireArgument } from '../wire/wire.ts'

/** Sends a command as `call` of ioredis does, or as `callBuffer`. */
export type SendCommand = (command: string, args: WireArgument[], bytes: boolean) => Promise<unknown>

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
  const own = {
    options: { ...client.options, enableAutoPipelining: false },
    sendCommand(command: Command): unknown {
      if (texts.length > 0) command.args = texts
      command.setTimeout = ignored
      if (client.isCluster || client.status !== 'ready') expire(command)
      return client.sendCommand(command)
    },
  }
  const caller: Pick<Redis, 'call' | 'callBuffer'> = Object.setPrototypeOf(own, client)
  return (command, args, bytes) => {
    const areTexts = args.every((arg) => typeof arg === 'string')
    texts = areTexts ? args : []
    const now = areTexts ? [] : args
    return bytes ? caller.callBuffer(command, now) : caller.call(command, now)
  }
}

/** A call ends within nine minutes, and the server remembers it for ten: after that it would happen twice. */
const LONGEST_KEPT_MS = 540_000

/** When it has waited for so long in the client, PING is sent in its place: its caller has its answer. */
function expire(command: Command): void {
  const [at, wallAt] = [performance.now(), Date.now()]
  const toWritable = command.toWritable.bind(command)
  command.toWritable = (socket) => {
    // The monotonic clock omits the time in which the machine was suspended.
    if (Math.max(performance.now() - at, Date.now() - wallAt) > LONGEST_KEPT_MS) {
      command.name = 'ping'
      command.args = []
    }
    return toWritable(socket)
  }
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
