const numbers = new WeakMap<object, number>()
let last = 0

/**
 * The name of a batch that asks a database: handles of one name may have different ones, of which one is refused, or
 * closed. `source`: the sink, or the source of counts.
 */
export function batchNameOf(beginning: string, source: object): string {
  let number = numbers.get(source)
  if (number === undefined) {
    last += 1
    number = last
    numbers.set(source, number)
  }
  return `${beginning} ${number}`
}
