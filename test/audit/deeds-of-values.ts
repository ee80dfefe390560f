import type { Perilune } from 'perilune'
import type { Deed, Dice } from './deed.ts'

export function collectionDeeds(redis: Perilune, dice: Dice): Deed[] {
  const list = redis.collection<number>('c list', { kind: 'list', limit: 50, ttl: '5s' })
  const set = redis.collection<string>('c set', { kind: 'set' })
  const items = (): number[] => Array.from({ length: dice.upTo(30) }, () => dice.upTo(99))
  const members = (): string[] => [...new Set(items().map(String))]
  return [
    ['list replace', async () => list.replace(items(), dice.chance(0.5) ? { version: dice.upTo(99) } : {})],
    ['list append', async () => list.append(items())],
    ['list read', async () => list.read({ limit: 10 })],
    ['set replace', async () => set.replace(members())],
    ['set add', async () => set.add(members())],
    ['set remove', async () => set.remove(members())],
    ['set clear', async () => (dice.chance(0.1) ? set.clear() : set.inspect())],
  ]
}

export function cacheDeeds(redis: Perilune, dice: Dice): Deed[] {
  const cache = redis.cache<string>('v', { ttl: '200ms', staleWhileRevalidate: '500ms', lease: '1s' })
  const key = (): string => `k${dice.upTo(9)}`
  const load = async (): Promise<string> => {
    if (dice.chance(0.2)) throw Object.assign(new Error('no'), { code: 'loader' })
    return 'value'
  }
  return [
    ['cache get', async () => cache.get(key(), load)],
    ['cache set', async () => cache.set(key(), 'set')],
    ['cache invalidate', async () => cache.invalidate(key())],
  ]
}
