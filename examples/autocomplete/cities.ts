// Cities of the world, suggested by the beginning of any word of their names, those with most inhabitants first:
//   npx tsx examples/autocomplete/cities.ts "san j"
//   npx tsx examples/autocomplete/cities.ts valen ES
// With a country it asks among its cities only; without a query it asks some of its own. `cities.md` says where the
// names are from.

import { readFileSync } from 'node:fs'
import { Redis } from 'ioredis'
import { type Autocomplete, type NewEntry, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'

interface City {
  country: string
}

const FILE = new URL('cities.tsv', import.meta.url)
const ASKED = [['san j'], ['aires'], ['CORDOBA'], ['cordoba', 'ES'], ['sao palo']] as const

/** A line of the file: `id`, `name`, `country`, `inhabitants`. Names repeat, so the number is the id. */
function toCity(line: string): NewEntry<City> & { payload: City } {
  const [id = '', text = '', country = '', inhabitants = ''] = line.split('\t')
  return { id, text, score: Number(inhabitants), payload: { country } }
}

/** Each country has an index of its own: a scope is nothing more. */
function indexOf(country?: string): Autocomplete<City> {
  return redis.autocomplete<City>(country === undefined ? 'cities' : `cities:${country}`)
}

/** Adding them again changes nothing. */
async function load(country?: string): Promise<number> {
  const inside = cities.filter(({ payload }) => country === undefined || payload.country === country)
  await indexOf(country).addMany(inside)
  return inside.length
}

async function show(query: string, country?: string): Promise<void> {
  const found = await indexOf(country).suggest(query, { limit: 5, fuzzy: true })
  const names = found.map(({ text, payload, edited }) => `${edited ? '≈ ' : ''}${text} (${payload?.country})`)
  console.log(`${country ?? 'anywhere'}, ${query}: ${names.join(', ') || 'none'}`)
}

const [, ...lines] = readFileSync(FILE, 'utf8').trimEnd().split('\n')
const cities = lines.map(toCity)
const client = new Redis(process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379')
const redis = perilune(ioredis(client), { namespace: 'example' })

const [query, country] = process.argv.slice(2)
const asked = query === undefined ? ASKED : ([[query, country?.toUpperCase()]] as const)
for (const scope of new Set(asked.map(([, within]) => within))) {
  console.log(`${await load(scope)} cities ${scope === undefined ? 'of the world' : `in ${scope}`}`)
}
for (const [text, within] of asked) await show(text, within)

await redis.close()
client.disconnect()
