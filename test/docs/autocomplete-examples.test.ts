import { expect, onTestFinished, test } from 'vitest'
import { startRedis } from '../servers/redis.ts'
import { startProgram } from './programs.ts'

test('members of the guild are suggested while they join and leave', async () => {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())

  const { code, out, errors } = await startProgram(['examples/autocomplete/guild.ts'], redis.url).ended()

  expect({ code, errors }).toEqual({ code: 0, errors: '' })
  expect(out.split('\n')).toEqual([
    'all are here, @jo: @jörg (veteran), @José (veteran), @john (veteran), @jochen (member), @jolanta (member)',
    'two have left, @jo: @jörg (veteran), @jochen (member), @jolanta (member), @joan (member)',
    'one has come, @jo: @joshua (veteran), @jörg (veteran), @jochen (member), @jolanta (member), @joan (member)',
    '',
  ])
})

test('cities are suggested by any word, whatever the accents, one edit away and within a country', async () => {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())

  const { code, out, errors } = await startProgram(['examples/autocomplete/cities.ts'], redis.url).ended()

  expect({ code, errors }).toEqual({ code: 0, errors: '' })
  expect(out.split('\n')).toEqual([
    '9147 cities of the world',
    '150 cities in ES',
    'anywhere, san j: San Jose (US), San Juan (AR), San Juan (PR), San Jose del Monte (PH), San José (CR)',
    'anywhere, aires: Buenos Aires (AR), ≈ Ribeirão Pires (BR), ≈ Giresun (TR), ≈ Lehigh Acres (US)',
    'anywhere, CORDOBA: Córdoba (AR), Córdoba (ES), Córdoba (MX), ≈ Rancho Cordova (US)',
    'ES, cordoba: Córdoba (ES)',
    'anywhere, sao palo: ≈ São Paulo (BR)',
    '',
  ])
})

test('a query with a country suggests only cities of that country', async () => {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())

  const program = startProgram(['examples/autocomplete/cities.ts', 'valen', 'es'], redis.url)

  expect(await program.ended()).toEqual({
    code: 0,
    out: '150 cities in ES\nES, valen: Valencia (ES), ≈ Palencia (ES)\n',
    errors: '',
  })
})
