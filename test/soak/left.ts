// Reads what the feeds hold when all is over.

import { perilune } from 'perilune'
import { type Connection, connect, type Place } from './connect.ts'
import { type Left, ROLES, type Role } from './history.ts'
import { guarded, type SoakedFeed } from './soaked-feed.ts'
import { unguarded } from './unguarded-feed.ts'
import type { Share } from './work.ts'

export async function readLeft(
  place: Place,
  kind: Share['kind'],
  names: Record<Role, string>,
): Promise<Left[]> {
  const connection = await connect('ioredis', place)
  const open = opener(connection, kind)
  const lines: Left[] = []
  for (const feed of ROLES) {
    for await (const { message, id } of open(names[feed]).follow(AbortSignal.abort())) {
      lines.push({ kind: 'left', feed, message, id })
    }
  }
  await connection.close()
  return lines
}

function opener(connection: Connection, kind: Share['kind']): (name: string) => SoakedFeed {
  if (kind === 'unguarded') return (name) => unguarded(connection, name)
  const redis = perilune(connection.driver, { deadline: '20s' })
  return (name) => guarded(redis, name)
}
