import type { Fault } from './fault.ts'

/** Slots move from one master to another, key by key, while they are used. */
export const movedSlots: Fault = {
  on: ['cluster'],
  happen: async ({ stage, luck }) => stage.moveSlots?.(luck),
}

/** A master joins the cluster, gets some of the slots that are used, gives them back and leaves. */
export const addedMaster: Fault = {
  on: ['cluster'],
  happen: async ({ stage, luck }) => stage.addMaster?.(luck),
}
