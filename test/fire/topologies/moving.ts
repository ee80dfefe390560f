// Slots that change hands while clients use them.

import { slotOf } from '../../../src/drivers/wire/slot.ts'
import { withClient } from '../../servers/ask.ts'
import type { RedisCluster } from '../../servers/cluster.ts'
import type { RedisServer } from '../../servers/redis.ts'
import { between, oneOf } from '../cell.ts'

const SLOTS_MOVED = 6

/**
 * Moves some of the slots that are in use, a few keys at a time: until the last one, keys are asked for in both places.
 */
export async function moveUsedSlots(
  cluster: RedisCluster,
  masters: readonly RedisServer[],
  luck: () => number,
): Promise<void> {
  for (let moved = 0; moved < SLOTS_MOVED; moved++) {
    const from = oneOf(luck, masters)
    const others = masters.filter((master) => master !== from)
    await moveUsedSlot(cluster, from, oneOf(luck, others), luck)
  }
}

/** A master joins, gets slots of all others, gives them back, and leaves. */
export async function addAndRemoveMaster(
  cluster: RedisCluster,
  masters: readonly RedisServer[],
  luck: () => number,
): Promise<void> {
  const joined = await cluster.addMaster()
  const moved: { slot: number; home: RedisServer }[] = []
  for (let at = 0; at < SLOTS_MOVED; at++) {
    const home = oneOf(luck, masters)
    const slot = await moveUsedSlot(cluster, home, joined, luck)
    if (slot !== null) moved.push({ slot, home })
  }
  for (const { slot, home } of moved) await moveSlowly(cluster, slot, joined, home, luck)
  await cluster.removeMaster(joined)
}

/** Resolves to the slot; null: none is in use. */
async function moveUsedSlot(
  cluster: RedisCluster,
  from: RedisServer,
  to: RedisServer,
  luck: () => number,
): Promise<number | null> {
  const slots = await usedSlots(from)
  if (slots.length === 0) return null
  const slot = oneOf(luck, slots)
  await moveSlowly(cluster, slot, from, to, luck)
  return slot
}

async function moveSlowly(
  cluster: RedisCluster,
  slot: number,
  from: RedisServer,
  to: RedisServer,
  luck: () => number,
): Promise<void> {
  await cluster.beginMove(slot, from.port, to.port)
  while ((await cluster.moveKeys(slot, from.port, to.port, between(luck, 1, 3))) > 0);
  await cluster.finishMove(slot, from.port, to.port)
}

async function usedSlots({ port }: RedisServer): Promise<number[]> {
  const keys = await withClient(port, (client) => client.keys('*'))
  return [...new Set(keys.map((key) => slotOf(key)))].toSorted((a, b) => a - b)
}
