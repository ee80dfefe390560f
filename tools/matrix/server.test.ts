import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { setupMirror } from './mirror-fixture.ts'
import { provide, type ServerPin } from './server.ts'

/** The table as it was when the suite had other packages. */
function withVersion(pin: ServerPin, version: string): ServerPin {
  return { ...pin, packages: pin.packages.map((each) => ({ ...each, version })) }
}

// Debian's packages are for Linux.
describe.runIf(process.platform === 'linux' && process.arch === 'x64')('a server', () => {
  test('runs through the loader of its own packages, by the names that the tests look for', async () => {
    const mirror = await setupMirror()

    const { bin, version, moved } = await provide(mirror.pin, mirror.archive(), mirror.cache)

    expect({ version, moved }).toEqual({ version: '9.9.9', moved: [] })
    expect(readdirSync(bin).toSorted()).toEqual([
      'redis-check-aof',
      'redis-cli',
      'redis-sentinel',
      'redis-server',
    ])
    const home = join(mirror.cache, 'servers/valkey-9.9')
    const called = execFileSync(join(bin, 'redis-sentinel'), ['a b', '$c'], { encoding: 'utf8' })
    expect(called).toBe(
      `v=9.9.9 --library-path ${home}/usr/lib/x86_64-linux-gnu --argv0 ${home}/usr/bin/valkey-sentinel ` +
        `${home}/usr/bin/valkey-server a b $c\n`,
    )
  })

  test('that is unpacked needs the mirror no more', async () => {
    const mirror = await setupMirror()
    const first = await provide(mirror.pin, mirror.archive(), mirror.cache)
    mirror.put('dists/sid/InRelease', null)

    expect(await provide(mirror.pin, mirror.archive(), mirror.cache)).toEqual(first)
  })

  test('of another version than the table has is taken as it is now, and named', async () => {
    const mirror = await setupMirror()
    const pin = withVersion(mirror.pin, '9.9.8-1')

    for (const _ of ['fetched', 'from the cache']) {
      const { moved } = await provide(pin, mirror.archive(), mirror.cache)
      expect(moved).toEqual([
        'valkey-server 9.9.9-1 instead of 9.9.8-1, checked against the index of the suite only',
        'valkey-tools 9.9.9-1 instead of 9.9.8-1, checked against the index of the suite only',
      ])
    }
  })

  test('of the version that the table has, but of other content, is refused', async () => {
    const mirror = await setupMirror()
    const packages = mirror.pin.packages.map((each) => ({ ...each, sha256: 'another' }))

    const providing = provide({ ...mirror.pin, packages }, mirror.archive(), mirror.cache)

    await expect(providing).rejects.toThrow(
      /^valkey-server 9\.9\.9-1 has the SHA-256 \w+ in sid, not another$/,
    )
  })

  test('whose file is not what the index says is refused, and nothing is left of it', async () => {
    const mirror = await setupMirror()
    mirror.put('pool/libc6.deb', 'something else')

    const providing = provide(mirror.pin, mirror.archive(), mirror.cache)

    await expect(providing).rejects.toThrow(/^pool\/libc6\.deb has the SHA-256 \w+, not \w+$/)
    expect(readdirSync(join(mirror.cache, 'servers'))).toEqual([])
  })

  test('whose index is not what the Release says is refused', async () => {
    const mirror = await setupMirror()
    mirror.put('dists/sid/InRelease', 'SHA256:\n 00 1 main/binary-amd64/Packages.xz\n')
    mirror.put('dists/sid/main/binary-amd64/by-hash/SHA256/00', 'something else')

    const providing = provide(mirror.pin, mirror.archive(), mirror.cache)

    await expect(providing).rejects.toThrow(/^main\/binary-amd64\/Packages\.xz has the SHA-256/)
  })

  test('that the mirror does not have fails with the answer of the mirror', async () => {
    const mirror = await setupMirror()
    mirror.put('pool/valkey-server.deb', null)

    const providing = provide(mirror.pin, mirror.archive(), mirror.cache)

    await expect(providing).rejects.toThrow('pool/valkey-server.deb: the mirror answered 404')
  })

  test('of a suite that Debian has not signed is refused, where the keys are known', async () => {
    const mirror = await setupMirror()
    const keyring = join(mirror.cache, '../keyring.gpg')
    writeFileSync(keyring, '')

    const providing = provide(mirror.pin, mirror.archive(keyring), mirror.cache)

    if (existsSync('/usr/bin/gpgv')) {
      await expect(providing).rejects.toThrow('the Release of sid is not signed')
    } else {
      await providing
      expect(mirror.said).toEqual(['the signature of sid is not checked: gpgv is not installed'])
    }
  })

  test('whose signature cannot be checked is used, and that is said', async () => {
    const mirror = await setupMirror()

    await provide(mirror.pin, mirror.archive(), mirror.cache)

    expect(mirror.said).toEqual([
      expect.stringContaining('the signature of sid is not checked: there is no '),
    ])
  })
})
