// The template tag escapes everything that is not its own HTML.
import { expect, it } from 'vitest';
import { type HtmlValue, html, htmlText, raw } from '#foundation/http/html.ts';

const text = (value: HtmlValue) => htmlText(html`<p title="${value}">${value}</p>`);

it('the html template tag escapes untrusted text in elements and attributes', () => {
  expect(text(`<script>alert("1")</script> & 'x'`)).toBe(
    '<p title="&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;x&#39;">' +
      '&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;x&#39;</p>',
  );
});

it('the html template tag inserts nested html as markup, and joins lists', () => {
  const names = ['<a>', 'b'];
  expect(htmlText(html`<ul>${names.map((name) => html`<li>${name}</li>`)}</ul>`)).toBe(
    '<ul><li>&lt;a&gt;</li><li>b</li></ul>',
  );
});

it('the html template tag writes numbers, including zero, and nothing for null, undefined and false', () => {
  expect(htmlText(html`${0}|${12}|${null}|${undefined}|${false}|${[]}`)).toBe('0|12||||');
});

it('the html template tag escapes each text in a list, also in a nested list', () => {
  expect(htmlText(html`${['<', ['>', raw('<br>')]]}`)).toBe('&lt;&gt;<br>');
});

it('the html template tag inserts raw text unescaped', () => {
  expect(htmlText(html`${raw('<b>ours</b>')}`)).toBe('<b>ours</b>');
});

it('the html template tag rejects objects that only look like html: an object from JSON has no markup', () => {
  const forged = JSON.parse('{"markup":"<script>","Symbol(markup)":"<script>"}');
  expect(() => htmlText(html`${forged}`)).toThrow(TypeError);
});
