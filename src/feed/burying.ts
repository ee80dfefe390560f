// What no codec here can read becomes a dead letter, so that nobody meets it again and again before those behind it.

import { bury } from '../generated/feed.ts'
import type { CallId } from '../runtime/calls/call-ids.ts'
import type { Source, UndecodableMessage } from './message.ts'

/** Dead letters have no dead letters. */
export function mayBury<Body>({ unit }: Source<Body>): boolean {
  return unit.place.beside === undefined
}

/** Of a claim that has ended nothing becomes a dead letter: its messages are others' to claim. */
export async function buryUndecodable<Body>(
  source: Source<Body>,
  token: number,
  messages: readonly UndecodableMessage[],
  deadMs: number,
): Promise<void> {
  const { unit, codec } = source
  const { channel: deadChannel } = unit.beside('dead')
  const ids = messages.map(({ id }) => Number(id))
  const common = { codec: codec.name, token: String(token), deadMs, deadChannel, sharded: unit.sharded, ids }
  await unit.runOnce(bury, (id: CallId) => ({ ...common, ...id }), { atClose: 'gives back' })
}
