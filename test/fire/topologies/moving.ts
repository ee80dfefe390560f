// Slots that change hands while clients use them.

import { slotOf } from '../../../src/drivers/slot.ts'
import { withClient } from '../../servers/ask.ts'
import type { RedisCluster } from '../../servers/cluster.ts'
import type { RedisServer } from '../../servers/redis.ts'
import { between, oneOf } from '../cell.ts'

const SLOTS_MOVED = 6

/** Moves some of the slots that are in use, a few keys at a time: until the last one, keys are asked for in both places. */
export async function moveUsedSlots(
  cluster: RedisCluster,
  masters: readonly RedisServer[],
  luck: () => number,
): Promise<void> {
  for (let moved = 0; moved < SLOTS_MOVED; moved++) {
    const from = oneOf(luck, masters)
    const slots = await usedSlots(from)
    if (slots.length === 0) continue
    const slot = oneOf(luck, slots)
    const to = oneOf(
      luck,
      masters.filter((master) => master !== from),
    )
    await cluster.beginMove(slot, from.port, to.port)
    while ((await cluster.moveKeys(slot, from.port, to.port, between(luck, 1, 3))) > 0);
    await cluster.finishMove(slot, from.port, to.port)
  }
}

async function usedSlots({ port }: RedisServer): Promise<number[]> {
  const keys = await withClient(port, (client) => client.keys('*'))
  return [...new Set(keys.map((key) => slotOf(key)))].toSorted((a, b) => a - b)
}
