// What queues call each other, in their outboxes and where they ask after parents: by name, a partition by the name of its
// queue, its number and how many there are.

/** Which partition it is of how many. */
export interface Partition {
  readonly number: number
  readonly count: number
}

export interface Address {
  readonly name: string
  /** Null: the queue has none. */
  readonly partition: Partition | null
}

// No name of a queue has a control character.
const IN_PARTITION = /^(.*)\x02(\d+)\/(\d+)$/

export function toAddress({ name, partition }: Address): string {
  return partition === null ? name : `${name}\x02${partition.number}/${partition.count}`
}

export function readAddress(address: string): Address {
  const match = IN_PARTITION.exec(address)
  if (match === null) return { name: address, partition: null }
  return { name: String(match[1]), partition: { number: Number(match[2]), count: Number(match[3]) } }
}
