// Who is next, where those of one share take one turn together: share after share, and within a share one after the other.

export class Turns<Member> {
  readonly #shareOf: (member: Member) => string
  /** The first of each is next. */
  readonly #shares = new Map<string, Set<Member>>()

  constructor(shareOf: (member: Member) => string) {
    this.#shareOf = shareOf
  }

  get isEmpty(): boolean {
    return this.#shares.size === 0
  }

  has(share: string): boolean {
    return this.#shares.has(share)
  }

  /** At the end of its share, unless it is there. */
  add(member: Member): void {
    const share = this.#shareOf(member)
    const members = this.#shares.get(share)
    if (members === undefined) this.#shares.set(share, new Set([member]))
    else members.add(member)
  }

  remove(member: Member): void {
    if (this.#shares.size === 0) return
    const share = this.#shareOf(member)
    const members = this.#shares.get(share)
    if (members?.delete(member) && members.size === 0) this.#shares.delete(share)
  }

  /** Whose turn it is, of the shares that may, by their first members; both it and its share are the last from then on. */
  next(may: (share: string, first: Member) => boolean): Member | undefined {
    for (const [share, members] of this.#shares) {
      const [first] = members
      if (first === undefined || !may(share, first)) continue
      this.#shares.delete(share)
      this.#shares.set(share, members)
      for (const member of members) {
        members.delete(member)
        members.add(member)
        return member
      }
    }
    return undefined
  }
}
