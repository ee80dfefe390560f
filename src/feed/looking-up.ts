import { get } from '../generated/feed.ts'
import { knownIds, type Message, type Source, toMessages } from './message.ts'

/** Looks messages up by id, in the order asked, in as many calls as their sizes need. */
export async function lookUp<Body>(
  { unit, codec }: Source<Body>,
  ids: readonly string[],
): Promise<Message<Body>[]> {
  let wanted = [...new Set(knownIds('ids', ids))]
  const found: Message<Body>[] = []
  while (wanted.length > 0) {
    const answer = await unit.run(get, { codec: codec.name, ids: wanted })
    found.push(...toMessages(answer, codec))
    wanted = wanted.slice(answer.looked)
  }
  return found
}
