// SPDX-License-Identifier: MIT
// The style sheet of report.html: light and dark, on paper too.
#pragma once

#include <string_view>

namespace vtrain {

inline constexpr std::string_view kReportStyle = R"css(:root {
  color-scheme: light dark;
  --ground: #ffffff; --ink: #1f2328; --soft-ink: #59636e; --rule: #d1d9e0; --panel: #f6f8fa; --best: #00714f;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0d1117; --ink: #e6edf3; --soft-ink: #9198a1; --rule: #30363d; --panel: #161b22; --best: #3fc99a;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--ground); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
}
main { max-width: 960px; margin: 0 auto; padding: 32px 24px 48px; }
h1 { font-size: 26px; line-height: 1.25; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 19px; margin: 40px 0 12px; padding-bottom: 6px; border-bottom: 1px solid var(--rule); }
h3 { font-size: 14px; margin: 24px 0 4px; }
.subtitle { color: var(--soft-ink); margin: 4px 0 20px; overflow-wrap: anywhere; }
.headline { font-size: 18px; margin: 0 0 12px; overflow-wrap: anywhere; }
.note { color: var(--soft-ink); font-size: 13px; margin: 6px 0; }
figure { margin: 18px 0; break-inside: avoid; }
figure .vt { display: block; max-width: 100%; height: auto; }
figure .vt text { fill: var(--soft-ink); }
figure .vt .title { fill: var(--ink); }
.small-charts { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: 4px 18px; }
.small-charts figure { margin: 6px 0; }
.tiles { display: grid; grid-template-columns: repeat(6, minmax(0, 1fr)); gap: 12px; margin: 20px 0; }
.tiles div { background: var(--panel); border: 1px solid var(--rule); border-radius: 6px; padding: 10px 14px; }
.tiles b { display: block; font-size: 19px; font-weight: 600; }
.tiles span { color: var(--soft-ink); font-size: 13px; }
.scroll { overflow-x: auto; margin: 12px 0; }
table { border-collapse: collapse; font-size: 14px; }
th, td { padding: 5px 6px; border-bottom: 1px solid var(--rule); }
th { font-weight: 500; text-align: left; }
.metrics { min-width: 100%; font-size: 13px; }
.metrics tbody th { padding-left: 0; }
.metrics thead th { text-align: right; font-weight: 600; border-bottom: 2px solid var(--rule); }
.metrics td { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.metrics tbody th { position: sticky; left: 0; background: var(--ground); white-space: nowrap; }
.metrics th[title] { cursor: help; }
.metrics .best {
  color: var(--best); font-weight: 600; text-decoration: underline; text-underline-offset: 3px;
}
.setup th { color: var(--soft-ink); vertical-align: top; white-space: nowrap; padding-left: 0; }
.setup td { overflow-wrap: anywhere; }
dl { font-size: 13px; margin: 10px 0; }
dt { font-weight: 500; margin-top: 6px; break-after: avoid; }
dd { margin: 0; color: var(--soft-ink); }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 13px; }
dt code { color: var(--soft-ink); font-weight: 400; }
pre { background: var(--panel); border: 1px solid var(--rule); border-radius: 6px; padding: 10px 14px; overflow-x: auto; }
footer { margin-top: 40px; color: var(--soft-ink); font-size: 13px; }
@media (max-width: 600px) {
  .small-charts { grid-template-columns: repeat(1, minmax(0, 1fr)); }
  .tiles { grid-template-columns: repeat(2, minmax(0, 1fr)); }
}
@media print {
  :root {
    --ground: #ffffff; --ink: #000000; --soft-ink: #444444; --rule: #bbbbbb; --panel: #ffffff; --best: #00714f;
  }
  body { font-size: 11pt; }
  main { max-width: none; padding: 0; }
  .scroll { overflow: visible; }
  .metrics td, .metrics th { padding: 3px 4px; font-size: 8pt; }
  h2, h3 { break-after: avoid; }
  tr { break-inside: avoid; }
}
)css";

} // namespace vtrain
