import type { Redis } from 'ioredis'

/** MEMORY USAGE of every key that begins with `prefix`, all elements counted. */
export async function keyBytes(client: Redis, prefix: string): Promise<number> {
  const keys = await client.keys(`${prefix}*`)
  const sizes = await Promise.all(keys.map((key) => client.memory('USAGE', key, 'SAMPLES', 0)))
  return sizes.reduce<number>((sum, size) => sum + Number(size), 0)
}

/** What the server has taken from the allocator for data; connections are left out. */
export async function usedBytes(client: Redis): Promise<number> {
  const stats: unknown[] = await client.memory('STATS')
  const at = (name: string): number => Number(stats[stats.indexOf(name) + 1])
  return at('total.allocated') - at('clients.normal')
}
