/** What a process does, by a name. */
export type Deed = readonly [name: string, deed: () => Promise<unknown>]

/** What a seed decides. */
export interface Dice {
  /** A whole number from 0 on. */
  upTo(most: number): number
  oneOf<Item>(list: readonly Item[]): Item
  chance(share: number): boolean
}
