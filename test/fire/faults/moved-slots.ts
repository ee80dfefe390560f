import type { Fault, Scene } from './fault.ts'

/** Slots move from one master to another, key by key, while they are used. */
async function happen({ stage, luck }: Scene): Promise<void> {
  await stage.moveSlots?.(luck)
}

export const movedSlots: Fault = { on: ['cluster'], happen }
