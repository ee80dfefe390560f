import { expect, test } from 'vitest'
import { parseAddress, showAddress } from './address.ts'

test('the forms of a URL', () => {
  const plain = { tls: false, username: null, password: null, db: 0, masterName: null }
  expect(parseAddress('redis://127.0.0.1')).toMatchObject({
    ...plain,
    topology: 'single',
    places: [{ host: '127.0.0.1', port: 6379 }],
  })
  expect(parseAddress('valkeys://ada:p%40ss@[::1]:7000/3')).toMatchObject({
    tls: true,
    username: 'ada',
    password: 'p@ss',
    db: 3,
    places: [{ host: '::1', port: 7000 }],
  })
  expect(parseAddress('redis+sentinel://:pw@a:1,b/main?db=2&sentinelPassword=s')).toMatchObject({
    topology: 'sentinel',
    places: [
      { host: 'a', port: 1 },
      { host: 'b', port: 26_379 },
    ],
    username: null,
    password: 'pw',
    db: 2,
    masterName: 'main',
    sentinelPassword: 's',
  })
  expect(parseAddress('rediss+cluster://a,b:7001')).toMatchObject({ topology: 'cluster', tls: true })
})

test.each([
  'redis//a',
  'redis://a,b',
  'redis+raft://a',
  'redis://a:0',
  'redis://a/x',
  'redis+cluster://a/1',
  'redis://a?x=1',
  'redis://%zz@a',
  'redis://::1',
])('%s is refused', (url) => {
  expect(() => parseAddress(url)).toThrow()
})

test.each(['redis://[::1]:6379/3', 'redis+sentinel://a:1,b:2/main', 'rediss+cluster://a:1,b:2'])(
  'what is shown is a URL again: %s',
  (url) => {
    expect(showAddress(parseAddress(url))).toBe(url)
    expect(showAddress(parseAddress(url.replace('://', '://ada:secret@')))).toBe(url)
  },
)
