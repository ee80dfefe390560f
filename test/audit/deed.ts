/** A named action of a process. */
export type Deed = readonly [name: string, deed: () => Promise<unknown>]

/** The choices of a seed. */
export interface Dice {
  /** A whole number from 0 on. */
  upTo(most: number): number
  oneOf<Item>(list: readonly Item[]): Item
  chance(share: number): boolean
}

/** `random`: numbers from 0 to 1. */
export function diceOf(random: () => number): Dice {
  return {
    upTo: (most) => Math.floor(random() * (most + 1)),
    oneOf: (list) => list[Math.floor(random() * list.length)] as never,
    chance: (share) => random() < share,
  }
}
