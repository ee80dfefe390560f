// Data sent to the server, in the form that both client libraries accept: text and Buffers.

import type { Argument, Reply, ScriptCall } from '../../driver.ts'

export type WireArgument = string | Buffer

/** The arguments of EVALSHA or EVAL. */
export function scriptArguments(call: ScriptCall): WireArgument[] {
  const { script, keys, args, send } = call
  const wire: WireArgument[] = [send === 'hash' ? script.sha1 : script.source, String(keys.length)]
  for (const key of keys) wire.push(key)
  for (const arg of args) wire.push(typeof arg === 'string' ? arg : wireArgument(arg))
  return wire
}

export function wireArgument(arg: Argument): WireArgument {
  if (typeof arg === 'string') return arg
  if (typeof arg === 'number') return String(arg)
  return Buffer.isBuffer(arg) ? arg : Buffer.from(arg.buffer, arg.byteOffset, arg.byteLength)
}

/** The approximate number of bytes to send: each character is counted as one. */
export function bytesOf(args: readonly unknown[]): number {
  let bytes = 0
  for (const arg of args) if (typeof arg === 'string' || Buffer.isBuffer(arg)) bytes += arg.length
  return bytes
}

/** Whether a reply of PUBSUB SHARDNUMSUB for one channel (its name and a number) counts a subscriber. */
export function hasSubscriber(reply: Reply): boolean {
  return !Array.isArray(reply) || Number(reply[1]) !== 0
}
