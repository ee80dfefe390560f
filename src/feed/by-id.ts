import { get } from '../generated/feed.ts'
import { type Entry, knownIds, type Source, toEntries } from './message.ts'

/** Looks messages up by id, in the order asked, in as many calls as their sizes need. */
export async function lookUp<Body>(
  { unit, codec }: Source<Body>,
  ids: readonly string[],
): Promise<Entry<Body>[]> {
  let wanted = [...new Set(knownIds('ids', ids))]
  const found: Entry<Body>[] = []
  while (wanted.length > 0) {
    const answer = await unit.run(get, { codec: codec.name, ids: wanted })
    found.push(...toEntries(answer, codec))
    wanted = wanted.slice(answer.looked)
  }
  return found
}
