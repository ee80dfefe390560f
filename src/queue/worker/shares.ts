// What each lane of a worker may ask for. What is free is shared out among those that may ask, each time beginning with another one,
// so that no partition with many jobs holds up those with few.

/** A lane, as far as its share depends on it. */
export interface Sharing {
  readonly mayAsk: boolean
  readonly isSilent: boolean
}

export class Shares<Lane extends Sharing> {
  readonly #all: readonly Lane[]
  #turn = 0

  constructor(all: readonly Lane[]) {
    this.#all = all
  }

  /** Equal ones; what cannot be divided goes to those whose turn it is. One that is silent takes nothing away from the others. */
  of(room: number): Map<Lane, number> {
    const inTurn = [...this.#all.slice(this.#turn), ...this.#all.slice(0, this.#turn)]
    const mayAsk = inTurn.filter((each) => each.mayAsk)
    const asking = mayAsk.filter(({ isSilent }) => !isSilent)
    const shares = new Map(mayAsk.map((each) => [each, Math.ceil(room / this.#all.length)]))
    if (asking.length === 0) return shares
    const over = room % asking.length
    const last = asking[over - 1]
    if (last !== undefined) this.#turn = (this.#all.indexOf(last) + 1) % this.#all.length
    for (const [at, each] of asking.entries()) {
      shares.set(each, Math.floor(room / asking.length) + (at < over ? 1 : 0))
    }
    return shares
  }
}
