// Yours to edit: where the data of a session go, and where the numbers come from that balance the versions.
// README.md says more. Without gardenpathSave the participant is given the data as a file.

// DataPipe (pipe.jspsych.org), which writes to your OSF project:
//
// const EXPERIMENT = "your DataPipe experiment ID";
// const call = async (path, body) => {
//   const answer = await fetch(`https://pipe.jspsych.org/api/${path}/`, {
//     method: "POST",
//     headers: { "Content-Type": "application/json", Accept: "*/*" },
//     body: JSON.stringify({ experimentID: EXPERIMENT, ...body }),
//   });
//   if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`); // what is thrown is tried again
//   return answer.json();
// };
// window.gardenpathSave = (json, { filename }) => call("data", { filename, data: json });
// window.gardenpathPlace = async () => (await call("condition", {})).condition; // set as many conditions as there are places

// A PHP script of your own (README.md has one):
//
// window.gardenpathSave = async (json, { filename }) => {
//   const answer = await fetch("save.php", {
//     method: "POST",
//     headers: { "Content-Type": "application/json" },
//     body: JSON.stringify({ filename, data: json }),
//   });
//   if (!answer.ok) throw new Error(String(answer.status));
// };
