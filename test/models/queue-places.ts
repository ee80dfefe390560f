// The places of ready jobs of the model, and the order in which they leave.

export interface Standing {
  readonly number: number
  group: string
  priority: number
  /** Its lease had ended: it goes before all others, or before those of its group. */
  front: boolean
  /** Ready again because its lease ended. */
  isLost: boolean
  place: 'list' | 'prioritized' | 'group' | null
}

class Group {
  readonly ready = new Set<Standing>()
  claimed = 0
  concurrency = 0

  get isFull(): boolean {
    return this.concurrency > 0 && this.claimed >= this.concurrency
  }

  get isEmpty(): boolean {
    return this.ready.size + this.claimed + this.concurrency === 0
  }
}

export class Places {
  // A job that left the list and came back is in it twice; the first place is valid.
  readonly #list: Standing[] = []
  readonly #prioritized = new Set<Standing>()
  readonly #groups = new Map<string, Group>()
  readonly #ring: string[] = []
  #turn = 0
  #usesPriorities = false
  #usesGroups = false
  /** Whether returned jobs may be in the list. */
  #hasReturned = false

  /** Groups that are remembered. */
  get groups(): number {
    return [...this.#groups].filter(([name, group]) => !group.isEmpty || this.#ring.includes(name)).length
  }

  configure(name: string, concurrency: number): readonly [number, number] {
    const group = this.#group(name)
    group.concurrency = concurrency
    if (this.#ring.includes(name)) this.#ring.splice(this.#ring.indexOf(name), 1)
    this.#enter(name)
    return [group.ready.size, group.claimed]
  }

  stand(job: Standing, front = false): void {
    job.front = front
    if (job.group !== '') return this.#join(job)
    const prioritized = job.priority !== 0 || (front && (this.#usesPriorities || this.#usesGroups))
    job.place = prioritized ? 'prioritized' : 'list'
    if (prioritized) {
      this.#usesPriorities = true
      this.#prioritized.add(job)
    } else if (front) {
      this.#hasReturned = true
      this.#list.unshift(job)
    } else this.#list.push(job)
  }

  /** A ready job goes elsewhere. */
  leave(job: Standing): void {
    if (job.place === 'group') this.#group(job.group).ready.delete(job)
    this.#prioritized.delete(job)
    job.place = null
  }

  /** A claimed job is claimed no more. */
  free(job: Standing): void {
    if (job.group === '') return
    this.#group(job.group).claimed -= 1
    this.#enter(job.group)
  }

  take(count: number): Standing[] {
    const taken: Standing[] = []
    if (this.#usesPriorities || this.#usesGroups) this.#bringReturned(count)
    this.#takePrioritized(({ front, priority }) => front || priority > 0, count, taken)
    if (this.#usesGroups) this.#takeInTurn(count, taken)
    else this.#takeListed(count, taken)
    this.#takePrioritized(() => true, count, taken)
    return taken
  }

  /** Those that came back before there were any with a priority or a group go before these. */
  #bringReturned(count: number): void {
    for (let brought = 0; this.#hasReturned && brought < count; ) {
      const [job] = this.#list
      this.#hasReturned = job !== undefined && (job.place !== 'list' || job.isLost)
      if (job === undefined || !this.#hasReturned) return
      this.#list.shift()
      if (job.place !== 'list') continue
      this.#usesPriorities = true
      this.#prioritized.add(Object.assign(job, { place: 'prioritized', front: true }))
      brought += 1
    }
  }

  #group(name: string): Group {
    const group = this.#groups.get(name) ?? new Group()
    this.#groups.set(name, group)
    return group
  }

  #join(job: Standing): void {
    this.#usesGroups = true
    job.place = 'group'
    this.#group(job.group).ready.add(job)
    this.#enter(job.group)
  }

  #enter(name: string): void {
    const group = this.#group(name)
    if (group.ready.size > 0 && !group.isFull && !this.#ring.includes(name)) this.#ring.push(name)
  }

  #takePrioritized(which: (job: Standing) => boolean, count: number, taken: Standing[]): void {
    const wanted = [...this.#prioritized].filter(which).toSorted(inOrder)
    for (const job of wanted.slice(0, Math.max(0, count - taken.length))) {
      this.leave(job)
      taken.push(job)
    }
  }

  #takeListed(count: number, taken: Standing[]): void {
    while (taken.length < count) {
      const job = this.#list.shift()
      if (job === undefined) return
      if (job.place !== 'list') continue
      this.leave(job)
      taken.push(job)
    }
  }

  #takeInTurn(count: number, taken: Standing[]): void {
    while (taken.length < count && this.#ring.length > 0) {
      if (this.#turn < this.#ring.length) this.#takeOfGroup(taken)
      else {
        this.#turn = 0
        this.#takeListed(taken.length + 1, taken)
      }
    }
    this.#takeListed(count, taken)
  }

  #takeOfGroup(taken: Standing[]): void {
    const name = this.#ring.shift() ?? ''
    const group = this.#group(name)
    const [job] = [...group.ready].toSorted(inOrder)
    if (job !== undefined) {
      this.leave(job)
      group.claimed += 1
      this.#turn += 1
      taken.push(job)
    }
    this.#enter(name)
  }
}

function inOrder(one: Standing, other: Standing): number {
  if (one.front !== other.front) return one.front ? -1 : 1
  if (one.front) return one.number - other.number
  return other.priority - one.priority || one.number - other.number
}
