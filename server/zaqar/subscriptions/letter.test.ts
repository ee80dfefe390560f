import { expect, test } from 'vitest'
import { LetterForm } from './letter.ts'

const PLACE = '"$zaqar_message$"'

test('a letter is the message, or the text of the subscriber with the message at its places', () => {
  expect(new LetterForm({}).write('{"a":"$&"}').body).toBe('{"a":"$&"}')
  const wrapped = new LetterForm({ post_data: `[${PLACE},1,${PLACE}]` })
  expect([wrapped.places, wrapped.write('{"a":"$&"}').body]).toEqual([2, '[{"a":"$&"},1,{"a":"$&"}]'])
  const fixed = new LetterForm({ post_data: 'look' })
  expect([fixed.places, fixed.write('{}').body]).toEqual([0, 'look'])
})

test('the size of a letter in bytes is known before it is written', () => {
  for (const post_data of [undefined, 'look', PLACE, `é${PLACE}é${PLACE}`]) {
    const form = new LetterForm(post_data === undefined ? {} : { post_data })
    for (const message of ['{}', '{"a":"漢字"}']) {
      expect(form.bytesOf(message)).toBe(Buffer.byteLength(form.write(message).body))
    }
  }
})
