// A round-robin queue: shares take turns, and the members of one share take turns within it.

export class Turns<Member> {
  readonly #shareOf: (member: Member) => string
  /** The first member of each is next. */
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

  /** Appends a member to its share, unless it is there already. */
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

  /** The next member, among the shares that `may` accepts by their first member. It and its share move to the end. */
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
