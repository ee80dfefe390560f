// A small soak in this process: quick to start, good enough to show what a broken rule does.

import { EventEmitter, once } from 'node:events'
import type { ClientKind, Place } from './connect.ts'
import type { Line } from './history.ts'
import { readLeft } from './left.ts'
import type { ScriptSabotage } from './script-sabotages.ts'
import { work } from './work.ts'

export interface SmallSoak {
  place: Place
  seed: number
  forMs: number
  sabotage?: ScriptSabotage
}

const CLIENTS: readonly ClientKind[] = ['ioredis', 'node-redis']

/** Resolves to the history. */
export async function soakHere({ place, seed, forMs, sabotage }: SmallSoak): Promise<Line[]> {
  const lines: Line[] = []
  const tag = `${seed}-${process.pid}-${Date.now()}-${Math.random()}`
  const feeds = { watched: `watched-${tag}`, worked: `worked-${tag}` }
  const common = { place, feeds, forMs, kind: 'perilune', sabotage: sabotage ?? null } as const
  const people = { producers: 4, observers: 2, consumers: 4 }
  const finish = new EventEmitter()
  let producing = CLIENTS.length
  const shares = CLIENTS.map((client, at) => {
    const share = { ...common, ...people, client, name: `h${at}`, seed: seed + at * 10_000 }
    return work(share, (line) => lines.push(line), {
      begin: Promise.resolve(),
      finish: once(finish, 'now'),
      ready: () => undefined,
      produced: () => --producing === 0 && finish.emit('now'),
    })
  })
  await Promise.all(shares)
  return [...lines, ...(await readLeft(place, 'perilune', feeds))]
}
