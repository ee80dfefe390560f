import type { Argument, ReadCall, Reply } from '../../driver.ts'
import { slotOf } from './slot.ts'

/**
 * Sends a read to a cluster. MGET may name keys of many slots: sends one MGET per slot and merges the replies in order.
 */
export function scatteredRead(call: ReadCall, send: (call: ReadCall) => Promise<Reply>): Promise<Reply> {
  if (call.command.toUpperCase() !== 'MGET') return send(call)
  const groups = positionsBySlot(call.args)
  return groups.length === 1 ? send(call) : joined(call, groups, send)
}

async function joined(
  call: ReadCall,
  groups: number[][],
  send: (call: ReadCall) => Promise<Reply>,
): Promise<Reply> {
  const parts = groups.map((positions) => ({ ...call, args: positions.map((at) => call.args[at] ?? '') }))
  const replies = await Promise.all(parts.map(send))
  const values: Reply[] = Array.from(call.args, () => null)
  for (const [index, positions] of groups.entries()) {
    const found = replies[index]
    if (Array.isArray(found)) for (const [nth, at] of positions.entries()) values[at] = found[nth] ?? null
  }
  return values
}

function positionsBySlot(keys: readonly Argument[]): number[][] {
  const groups = new Map<number, number[]>()
  for (const [at, key] of keys.entries()) {
    const slot = slotOf(typeof key === 'number' ? String(key) : key)
    const group = groups.get(slot)
    if (group === undefined) groups.set(slot, [at])
    else group.push(at)
  }
  return [...groups.values()]
}
