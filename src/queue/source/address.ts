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
const MARK = '\x02'

export function toAddress({ name, partition }: Address): string {
  return partition === null ? name : `${name}${MARK}${partition.number}/${partition.count}`
}

export function readAddress(address: string): Address {
  const [name = '', place] = address.split(MARK)
  if (place === undefined) return { name, partition: null }
  const [number = 0, count = 1] = place.split('/').map(Number)
  return { name, partition: { number, count } }
}
