// What goes over the wire, in the form that both client libraries take: text and Buffers.

import type { Argument, Reply, ScriptCall } from '../driver.ts'

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

/** The numbers of a reply of PUBSUB NUMSUB: a channel, its number, the next channel … */
export function counts(reply: Reply): number[] {
  return Array.isArray(reply) ? reply.filter((_, at) => at % 2 === 1).map(Number) : []
}
