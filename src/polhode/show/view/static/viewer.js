/* polhode's viewer, with three.js and uPlot inside (MIT licence; see NOTICE). Built from web/. */
var polhode=(()=>{var eu=Object.defineProperty;var __=Object.getOwnPropertyDescriptor;var x_=Object.getOwnPropertyNames;var v_=Object.prototype.hasOwnProperty;var y_=(i,t)=>{for(var e in t)eu(i,e,{get:t[e],enumerable:!0})},S_=(i,t,e,n)=>{if(t&&typeof t=="object"||typeof t=="function")for(let s of x_(t))!v_.call(i,s)&&s!==e&&eu(i,s,{get:()=>t[s],enumerable:!(n=__(t,s))||n.enumerable});return i};var M_=i=>S_(eu({},"__esModule",{value:!0}),i);var nA={};y_(nA,{chart:()=>wm,local:()=>s_,mount:()=>Wh,play:()=>n_,server:()=>i_});var b_={f4:Float32Array,f8:Float64Array,u4:Uint32Array};function Oo(i){let t=Uint8Array.from(atob(i.slice(3)),e=>e.charCodeAt(0));return new b_[i.slice(0,2)](t.buffer)}function Wf(i){let t={...i};for(let r of["t","quaternion","omega","energy","momentum","angular","position","speeds"])typeof t[r]=="string"&&(t[r]=Oo(t[r]));if(!t.bodies)return{...t,shape:Hf(t.shape)};t.kinds=t.kinds.map(r=>({...r,shape:Hf(r.shape)}));let{quaternion:e,position:n,omega:s}=t;return nu({...t,all:{quaternion:e,position:n,omega:s}},"all")}function Hf(i){return i.kind!=="mesh"||typeof i.vertices!="string"?i:{...i,vertices:Oo(i.vertices),faces:Oo(i.faces)}}function nu(i,t){let e=i.bodies,n=typeof t=="number";for(let[s,r]of[["quaternion",4],["position",3],["omega",3]]){let o=i.all[s];i[s]=n&&o?w_(o,e*r,t*r,r):null}return i}function w_(i,t,e,n){let s=new i.constructor(i.length/t*n);for(let r=0;r<s.length;r+=1)s[r]=i[t*Math.floor(r/n)+e+r%n];return s}function iu({bodies:i,all:t},e,n,s){let r=t.position,o=3*(i*n+e);return s===0?[r[o],r[o+1],r[o+2]]:[0,1,2].map(a=>r[o+a]+s*(r[o+3*i+a]-r[o+a]))}var Xf=({bodies:i,all:t},e,n,s)=>qf(t.quaternion,4*(i*n+e),4*i,s),su=i=>i.fastest??nr(i.omega);function Dn(i,t){let e=i.length-1;if(!(t>i[0]))return[0,0];if(t>=i[e])return[e,0];let n=0,s=e;for(;s-n>1;){let r=n+s>>1;i[r]<=t?n=r:s=r}return[n,(t-i[n])/(i[s]-i[n])]}function Bo(i,t){let[e,n]=Dn(i.t,t);return qf(i.quaternion,4*e,4,n)}function qf(i,t,e,n){let s=[i[t],i[t+1],i[t+2],i[t+3]];if(n===0)return s;let r=[i[t+e],i[t+e+1],i[t+e+2],i[t+e+3]],o=s[0]*r[0]+s[1]*r[1]+s[2]*r[2]+s[3]*r[3],a=Math.acos(Math.min(1,Math.abs(o))),[l,c]=a<1e-4?[1-n,n]:[Math.sin((1-n)*a)/Math.sin(a),Math.sin(n*a)/Math.sin(a)],h=o<0?-1:1,d=s.map((f,g)=>l*f+h*c*r[g]),u=Math.hypot(...d);return d.map(f=>f/u)}function er(i,t,e,n){let[s,r]=Dn(i.t,n);return Array.from({length:e},(o,a)=>{let l=t[e*s+a];return r===0?l:l+r*(t[e*(s+1)+a]-l)})}function nr(i){let t=0;for(let e=0;e<i.length;e+=3)t=Math.max(t,Math.hypot(i[e],i[e+1],i[e+2]));return t}function ko(i,t,e=[]){let n=i.inertia,s=[0,3,6].map(r=>n[r]*t[0]+n[r+1]*t[1]+n[r+2]*t[2]);return i.rotors.forEach(({axis:r,inertia:o},a)=>r.forEach((l,c)=>s[c]+=o*(e[a]??0)*l)),s}var Yf=(i,t)=>i.rotors.length?er(i,i.speeds,i.rotors.length,t):[],ru=(i,t)=>i[0]*t[0]+i[1]*t[1]+i[2]*t[2];function Yi([i,t,e,n],[s,r,o]){let a=2*(t*o-e*r),l=2*(e*s-i*o),c=2*(i*r-t*s);return[s+n*a+t*c-e*l,r+n*l+e*a-i*c,o+n*c+i*l-t*a]}var A_="uplot",E_="u-hz",T_="u-vt",C_="u-title",R_="u-wrap",P_="u-under",I_="u-over",L_="u-axis",rr="u-off",D_="u-select",N_="u-cursor-x",U_="u-cursor-y",F_="u-cursor-pt",O_="u-legend",B_="u-live",k_="u-inline",z_="u-series",V_="u-marker",Zf="u-label",G_="u-value",Vo="width",Go="height";var Jf="bottom",Dr="left",ou="right",bu="#000",$f=bu+"0",au="mousemove",Kf="mousedown",lu="mouseup",jf="mouseenter",Qf="mouseleave",tp="dblclick",H_="resize",W_="scroll",ep="change",ll="dppxchange",wu="--",zr=typeof window<"u",fu=zr?document:null,Ur=zr?window:null,X_=zr?navigator:null,Ae,sl;function pu(){let i=devicePixelRatio;Ae!=i&&(Ae=i,sl&&gu(ep,sl,pu),sl=matchMedia(`(min-resolution: ${Ae-.001}dppx) and (max-resolution: ${Ae+.001}dppx)`),or(ep,sl,pu),Ur.dispatchEvent(new CustomEvent(ll)))}function ii(i,t){if(t!=null){let e=i.classList;!e.contains(t)&&e.add(t)}}function mu(i,t){let e=i.classList;e.contains(t)&&e.remove(t)}function He(i,t,e){i.style[t]=e+"px"}function Ci(i,t,e,n){let s=fu.createElement(i);return t!=null&&ii(s,t),e?.insertBefore(s,n),s}function gi(i,t){return Ci("div",i,t)}var np=new WeakMap;function Zi(i,t,e,n,s){let r="translate("+t+"px,"+e+"px)",o=np.get(i);r!=o&&(i.style.transform=r,np.set(i,r),t<0||e<0||t>n||e>s?ii(i,rr):mu(i,rr))}var ip=new WeakMap;function sp(i,t,e){let n=t+e,s=ip.get(i);n!=s&&(ip.set(i,n),i.style.background=t,i.style.borderColor=e)}var rp=new WeakMap;function op(i,t,e,n){let s=t+""+e,r=rp.get(i);s!=r&&(rp.set(i,s),i.style.height=e+"px",i.style.width=t+"px",i.style.marginLeft=n?-t/2+"px":0,i.style.marginTop=n?-e/2+"px":0)}var Au={passive:!0},q_={...Au,capture:!0};function or(i,t,e,n){t.addEventListener(i,e,n?q_:Au)}function gu(i,t,e,n){t.removeEventListener(i,e,Au)}zr&&pu();function Ri(i,t,e,n){let s;e=e||0,n=n||t.length-1;let r=n<=2147483647;for(;n-e>1;)s=r?e+n>>1:si((e+n)/2),t[s]<i?e=s:n=s;return i-t[e]<=t[n]-i?e:n}function Np(i){return(e,n,s)=>{let r=-1,o=-1;for(let a=n;a<=s;a++)if(i(e[a])){r=a;break}for(let a=s;a>=n;a--)if(i(e[a])){o=a;break}return[r,o]}}var Up=i=>i!=null,Fp=i=>i!=null&&i>0,ul=Np(Up),Y_=Np(Fp);function Z_(i,t,e,n=0,s=!1){let r=s?Y_:ul,o=s?Fp:Up;[t,e]=r(i,t,e);let a=i[t],l=i[t];if(t>-1)if(n==1)a=i[t],l=i[e];else if(n==-1)a=i[e],l=i[t];else for(let c=t;c<=e;c++){let h=i[c];o(h)&&(h<a?a=h:h>l&&(l=h))}return[a??Fe,l??-Fe]}function dl(i,t,e,n){let s=cp(i),r=cp(t);i==t&&(s==-1?(i*=e,t/=e):(i/=e,t*=e));let o=e==10?hs:Op,a=s==1?si:_i,l=r==1?_i:si,c=a(o(mn(i))),h=l(o(mn(t))),d=Fr(e,c),u=Fr(e,h);return e==10&&(c<0&&(d=Oe(d,-c)),h<0&&(u=Oe(u,-h))),n||e==2?(i=d*s,t=u*r):(i=Vp(i,d),t=fl(t,u)),[i,t]}function Eu(i,t,e,n){let s=dl(i,t,e,n);return i==0&&(s[0]=0),t==0&&(s[1]=0),s}var Tu=.1,ap={mode:3,pad:Tu},Wo={pad:0,soft:null,mode:0},J_={min:Wo,max:Wo};function cl(i,t,e,n){return pl(e)?lp(i,t,e):(Wo.pad=e,Wo.soft=n?0:null,Wo.mode=n?3:0,lp(i,t,J_))}function Me(i,t){return i??t}function $_(i,t,e){for(t=Me(t,0),e=Me(e,i.length-1);t<=e;){if(i[t]!=null)return!0;t++}return!1}function lp(i,t,e){let n=e.min,s=e.max,r=Me(n.pad,0),o=Me(s.pad,0),a=Me(n.hard,-Fe),l=Me(s.hard,Fe),c=Me(n.soft,Fe),h=Me(s.soft,-Fe),d=Me(n.mode,0),u=Me(s.mode,0),f=t-i,g=hs(f),y=Wn(mn(i),mn(t)),m=hs(y),p=mn(m-g);(f<1e-24||p>10)&&(f=0,(i==0||t==0)&&(f=1e-24,d==2&&c!=Fe&&(r=0),u==2&&h!=-Fe&&(o=0)));let v=f||y||1e3,T=hs(v),M=Fr(10,si(T)),P=v*(f==0?i==0?.1:1:r),E=Oe(Vp(i-P,M/10),24),x=i>=c&&(d==1||d==3&&E<=c||d==2&&E>=c)?c:Fe,A=Wn(a,E<x&&i>=x?x:Pi(x,E)),k=v*(f==0?t==0?.1:1:o),N=Oe(fl(t+k,M/10),24),D=t<=h&&(u==1||u==3&&N>=h||u==2&&N<=h)?h:-Fe,z=Pi(l,N>D&&t<=D?D:Wn(D,N));return A==z&&A==0&&(z=100),[A,z]}var K_=new Intl.NumberFormat(zr?X_.language:"en-US"),Cu=i=>K_.format(i),ri=Math,al=ri.PI,mn=ri.abs,si=ri.floor,pn=ri.round,_i=ri.ceil,Pi=ri.min,Wn=ri.max,Fr=ri.pow,cp=ri.sign,hs=ri.log10,Op=ri.log2,j_=(i,t=1)=>ri.sinh(i)*t,cu=(i,t=1)=>ri.asinh(i/t),Fe=1/0;function hp(i){return(hs((i^i>>31)-(i>>31))|0)+1}function _u(i,t,e){return Pi(Wn(i,t),e)}function Bp(i){return typeof i=="function"}function ge(i){return Bp(i)?i:()=>i}var Q_=()=>{},kp=i=>i,zp=(i,t)=>t,tx=i=>null,up=i=>!0,dp=(i,t)=>i==t,ex=/\.\d*?(?=9{6,}|0{6,})/gm,ar=i=>{if(Hp(i)||Ds.has(i))return i;let t=`${i}`,e=t.match(ex);if(e==null)return i;let n=e[0].length-1;if(t.indexOf("e-")!=-1){let[s,r]=t.split("e");return+`${ar(s)}e${r}`}return Oe(i,n)};function ir(i,t){return ar(Oe(ar(i/t))*t)}function fl(i,t){return ar(_i(ar(i/t))*t)}function Vp(i,t){return ar(si(ar(i/t))*t)}function Oe(i,t=0){if(Hp(i))return i;let e=10**t,n=i*e*(1+Number.EPSILON);return pn(n)/e}var Ds=new Map;function Gp(i){return((""+i).split(".")[1]||"").length}function qo(i,t,e,n){let s=[],r=n.map(Gp);for(let o=t;o<e;o++){let a=mn(o),l=Oe(Fr(i,o),a);for(let c=0;c<n.length;c++){let h=i==10?+`${n[c]}e${o}`:n[c]*l,d=(o>=0?0:a)+(o>=r[c]?0:r[c]),u=i==10?h:Oe(h,d);s.push(u),Ds.set(u,d)}}return s}var Xo={},Ru=[],Or=[null,null],Ls=Array.isArray,Hp=Number.isInteger,nx=i=>i===void 0;function fp(i){return typeof i=="string"}function pl(i){let t=!1;if(i!=null){let e=i.constructor;t=e==null||e==Object}return t}function ix(i){return i!=null&&typeof i=="object"}var sx=Object.getPrototypeOf(Uint8Array),Wp="__proto__";function Br(i,t=pl){let e;if(Ls(i)){let n=i.find(s=>s!=null);if(Ls(n)||t(n)){e=Array(i.length);for(let s=0;s<i.length;s++)e[s]=Br(i[s],t)}else e=i.slice()}else if(i instanceof sx)e=i.slice();else if(t(i)){e={};for(let n in i)n!=Wp&&(e[n]=Br(i[n],t))}else e=i;return e}function hn(i){let t=arguments;for(let e=1;e<t.length;e++){let n=t[e];for(let s in n)s!=Wp&&(pl(i[s])?hn(i[s],Br(n[s])):i[s]=Br(n[s]))}return i}var rx=0,ox=1,ax=2;function lx(i,t,e){for(let n=0,s,r=-1;n<t.length;n++){let o=t[n];if(o>r){for(s=o-1;s>=0&&i[s]==null;)i[s--]=null;for(s=o+1;s<e&&i[s]==null;)i[r=s++]=null}}}function cx(i,t){if(dx(i)){let o=i[0].slice();for(let a=1;a<i.length;a++)o.push(...i[a].slice(1));return fx(o[0])||(o=ux(o)),o}let e=new Set;for(let o=0;o<i.length;o++){let l=i[o][0],c=l.length;for(let h=0;h<c;h++)e.add(l[h])}let n=[Array.from(e).sort((o,a)=>o-a)],s=n[0].length,r=new Map;for(let o=0;o<s;o++)r.set(n[0][o],o);for(let o=0;o<i.length;o++){let a=i[o],l=a[0];for(let c=1;c<a.length;c++){let h=a[c],d=Array(s).fill(void 0),u=t?t[o][c]:ox,f=[];for(let g=0;g<h.length;g++){let y=h[g],m=r.get(l[g]);y===null?u!=rx&&(d[m]=y,u==ax&&f.push(m)):d[m]=y}lx(d,f,s),n.push(d)}}return n}var hx=typeof queueMicrotask>"u"?i=>Promise.resolve().then(i):queueMicrotask;function ux(i){let t=i[0],e=t.length,n=Array(e);for(let r=0;r<n.length;r++)n[r]=r;n.sort((r,o)=>t[r]-t[o]);let s=[];for(let r=0;r<i.length;r++){let o=i[r],a=Array(e);for(let l=0;l<e;l++)a[l]=o[n[l]];s.push(a)}return s}function dx(i){let t=i[0][0],e=t.length;for(let n=1;n<i.length;n++){let s=i[n][0];if(s.length!=e)return!1;if(s!=t){for(let r=0;r<e;r++)if(s[r]!=t[r])return!1}}return!0}function fx(i,t=100){let e=i.length;if(e<=1)return!0;let n=0,s=e-1;for(;n<=s&&i[n]==null;)n++;for(;s>=n&&i[s]==null;)s--;if(s<=n)return!0;let r=Wn(1,si((s-n+1)/t));for(let o=i[n],a=n+r;a<=s;a+=r){let l=i[a];if(l!=null){if(l<=o)return!1;o=l}}return!0}var Xp=["January","February","March","April","May","June","July","August","September","October","November","December"],qp=["Sunday","Monday","Tuesday","Wednesday","Thursday","Friday","Saturday"];function Yp(i){return i.slice(0,3)}var px=qp.map(Yp),mx=Xp.map(Yp),gx={MMMM:Xp,MMM:mx,WWWW:qp,WWW:px};function zo(i){return(i<10?"0":"")+i}function _x(i){return(i<10?"00":i<100?"0":"")+i}var xx={YYYY:i=>i.getFullYear(),YY:i=>(i.getFullYear()+"").slice(2),MMMM:(i,t)=>t.MMMM[i.getMonth()],MMM:(i,t)=>t.MMM[i.getMonth()],MM:i=>zo(i.getMonth()+1),M:i=>i.getMonth()+1,DD:i=>zo(i.getDate()),D:i=>i.getDate(),WWWW:(i,t)=>t.WWWW[i.getDay()],WWW:(i,t)=>t.WWW[i.getDay()],HH:i=>zo(i.getHours()),H:i=>i.getHours(),h:i=>{let t=i.getHours();return t==0?12:t>12?t-12:t},AA:i=>i.getHours()>=12?"PM":"AM",aa:i=>i.getHours()>=12?"pm":"am",a:i=>i.getHours()>=12?"p":"a",mm:i=>zo(i.getMinutes()),m:i=>i.getMinutes(),ss:i=>zo(i.getSeconds()),s:i=>i.getSeconds(),fff:i=>_x(i.getMilliseconds())};function Pu(i,t){t=t||gx;let e=[],n=/\{([a-z]+)\}|[^{]+/gi,s;for(;s=n.exec(i);)e.push(s[0][0]=="{"?xx[s[1]]:s[0]);return r=>{let o="";for(let a=0;a<e.length;a++)o+=typeof e[a]=="string"?e[a]:e[a](r,t);return o}}var vx=new Intl.DateTimeFormat().resolvedOptions().timeZone;function yx(i,t){let e;return t=="UTC"||t=="Etc/UTC"?e=new Date(+i+i.getTimezoneOffset()*6e4):t==vx?e=i:(e=new Date(i.toLocaleString("en-US",{timeZone:t})),e.setMilliseconds(i.getMilliseconds())),e}var Zp=i=>i%1==0,hl=[1,2,2.5,5],Sx=qo(10,-32,0,hl),Jp=qo(10,0,32,hl),Mx=Jp.filter(Zp),sr=Sx.concat(Jp),Iu=`
`,$p="{YYYY}",pp=Iu+$p,Kp="{M}/{D}",Ho=Iu+Kp,rl=Ho+"/{YY}",jp="{aa}",bx="{h}:{mm}",Nr=bx+jp,mp=Iu+Nr,gp=":{ss}",Ee=null;function Qp(i){let t=i*1e3,e=t*60,n=e*60,s=n*24,r=s*30,o=s*365,l=(i==1?qo(10,0,3,hl).filter(Zp):qo(10,-3,0,hl)).concat([t,t*5,t*10,t*15,t*30,e,e*5,e*10,e*15,e*30,n,n*2,n*3,n*4,n*6,n*8,n*12,s,s*2,s*3,s*4,s*5,s*6,s*7,s*8,s*9,s*10,s*15,r,r*2,r*3,r*4,r*6,o,o*2,o*5,o*10,o*25,o*50,o*100]),c=[[o,$p,Ee,Ee,Ee,Ee,Ee,Ee,1],[s*28,"{MMM}",pp,Ee,Ee,Ee,Ee,Ee,1],[s,Kp,pp,Ee,Ee,Ee,Ee,Ee,1],[n,"{h}"+jp,rl,Ee,Ho,Ee,Ee,Ee,1],[e,Nr,rl,Ee,Ho,Ee,Ee,Ee,1],[t,gp,rl+" "+Nr,Ee,Ho+" "+Nr,Ee,mp,Ee,1],[i,gp+".{fff}",rl+" "+Nr,Ee,Ho+" "+Nr,Ee,mp,Ee,1]];function h(d){return(u,f,g,y,m,p)=>{let v=[],T=m>=o,M=m>=r&&m<o,P=d(g),E=Oe(P*i,3),x=hu(P.getFullYear(),T?0:P.getMonth(),M||T?1:P.getDate()),A=Oe(x*i,3);if(M||T){let k=M?m/r:0,N=T?m/o:0,D=E==A?E:Oe(hu(x.getFullYear()+N,x.getMonth()+k,1)*i,3),z=new Date(pn(D/i)),H=z.getFullYear(),L=z.getMonth();for(let W=0;D<=y;W++){let Y=hu(H+N*W,L+k*W,1),G=Y-d(Oe(Y*i,3));D=Oe((+Y+G)*i,3),D<=y&&v.push(D)}}else{let k=m>=s?s:m,N=si(g)-si(E),D=A+N+fl(E-A,k);v.push(D);let z=d(D),H=z.getHours()+z.getMinutes()/e+z.getSeconds()/n,L=m/n,W=u.axes[f]._space,Y=p/W;for(;D=Oe(D+m,i==1?0:3),!(D>y);)if(L>1){let G=si(Oe(H+L,6))%24,j=d(D).getHours()-G;j>1&&(j=-1),D-=j*n,H=(H+L)%24;let it=v[v.length-1];Oe((D-it)/m,3)*Y>=.7&&v.push(D)}else v.push(D)}return v}}return[l,c,h]}var[wx,Ax,Ex]=Qp(1),[Tx,Cx,Rx]=Qp(.001);qo(2,-53,53,[1]);function _p(i,t){return i.map(e=>e.map((n,s)=>s==0||s==8||n==null?n:t(s==1||e[8]==0?n:e[1]+n)))}function xp(i,t){return(e,n,s,r,o)=>{let a=t.find(g=>o>=g[0])||t[t.length-1],l,c,h,d,u,f;return n.map(g=>{let y=i(g),m=y.getFullYear(),p=y.getMonth(),v=y.getDate(),T=y.getHours(),M=y.getMinutes(),P=y.getSeconds(),E=m!=l&&a[2]||p!=c&&a[3]||v!=h&&a[4]||T!=d&&a[5]||M!=u&&a[6]||P!=f&&a[7]||a[1];return l=m,c=p,h=v,d=T,u=M,f=P,E(y)})}}function Px(i,t){let e=Pu(t);return(n,s,r,o,a)=>s.map(l=>e(i(l)))}function hu(i,t,e){return new Date(i,t,e)}function vp(i,t){return t(i)}var Ix="{YYYY}-{MM}-{DD} {h}:{mm}{aa}";function yp(i,t){return(e,n,s,r)=>r==null?wu:t(i(n))}function Lx(i,t){let e=i.series[t];return e.width?e.stroke(i,t):e.points.width?e.points.stroke(i,t):null}function Dx(i,t){return i.series[t].fill(i,t)}var Nx={show:!0,live:!0,isolate:!1,mount:Q_,markers:{show:!0,width:2,stroke:Lx,fill:Dx,dash:"solid"},idx:null,idxs:null,values:[]};function Ux(i,t){let e=i.cursor.points,n=gi(),s=e.size(i,t);He(n,Vo,s),He(n,Go,s);let r=s/-2;He(n,"marginLeft",r),He(n,"marginTop",r);let o=e.width(i,t,s);return o&&He(n,"borderWidth",o),n}function Fx(i,t){let e=i.series[t].points;return e._fill||e._stroke}function Ox(i,t){let e=i.series[t].points;return e._stroke||e._fill}function Bx(i,t){return i.series[t].points.size}var uu=[0,0];function kx(i,t,e){return uu[0]=t,uu[1]=e,uu}function ol(i,t,e,n=!0){return s=>{s.button==0&&(!n||s.target==t)&&e(s)}}function du(i,t,e,n=!0){return s=>{(!n||s.target==t)&&e(s)}}var zx={show:!0,x:!0,y:!0,lock:!1,move:kx,points:{one:!1,show:Ux,size:Bx,width:0,stroke:Ox,fill:Fx},bind:{mousedown:ol,mouseup:ol,click:ol,dblclick:ol,mousemove:du,mouseleave:du,mouseenter:du},drag:{setScale:!0,x:!0,y:!1,dist:0,uni:null,click:(i,t)=>{t.stopPropagation(),t.stopImmediatePropagation()},_x:!1,_y:!1},focus:{dist:(i,t,e,n,s)=>n-s,prox:-1,bias:0},hover:{skip:[void 0],prox:null,bias:0},left:-10,top:-10,idx:null,dataIdx:null,idxs:null,event:null},tm={show:!0,stroke:"rgba(0,0,0,0.07)",width:2},Lu=hn({},tm,{filter:zp}),em=hn({},Lu,{size:10}),nm=hn({},tm,{show:!1}),Du='12px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, "Noto Sans", sans-serif, "Apple Color Emoji", "Segoe UI Emoji", "Segoe UI Symbol", "Noto Color Emoji"',im="bold "+Du,sm=1.5,Sp={show:!0,scale:"x",stroke:bu,space:50,gap:5,alignTo:1,size:50,labelGap:0,labelSize:30,labelFont:im,side:2,grid:Lu,ticks:em,border:nm,font:Du,lineGap:sm,rotate:0},Vx="Value",Gx="Time",Mp={show:!0,scale:"x",auto:!1,sorted:1,min:Fe,max:-Fe,idxs:[]};function Hx(i,t,e,n,s){return t.map(r=>r==null?"":Cu(r))}function Wx(i,t,e,n,s,r,o){let a=[],l=Ds.get(s)||0;e=o?e:Oe(fl(e,s),l);for(let c=e;c<=n;c=Oe(c+s,l))a.push(Object.is(c,-0)?0:c);return a}function xu(i,t,e,n,s,r,o){let a=[],l=i.scales[i.axes[t].scale].log,c=l==10?hs:Op,h=si(c(e));s=Fr(l,h),l==10&&(s=sr[Ri(s,sr)]);let d=e,u=s*l;l==10&&(u=sr[Ri(u,sr)]);do a.push(d),d=d+s,l==10&&!Ds.has(d)&&(d=Oe(d,Ds.get(s))),d>=u&&(s=d,u=s*l,l==10&&(u=sr[Ri(u,sr)]));while(d<=n);return a}function Xx(i,t,e,n,s,r,o){let l=i.scales[i.axes[t].scale].asinh,c=n>l?xu(i,t,Wn(l,e),n,s):[l],h=n>=0&&e<=0?[0]:[];return(e<-l?xu(i,t,Wn(l,-n),-e,s):[l]).reverse().map(u=>-u).concat(h,c)}var rm=/./,qx=/[12357]/,Yx=/[125]/,bp=/1/,vu=(i,t,e,n)=>i.map((s,r)=>t==4&&s==0||r%n==0&&e.test(s.toExponential()[s<0?1:0])?s:null);function Zx(i,t,e,n,s){let r=i.axes[e],o=r.scale,a=i.scales[o],l=i.valToPos,c=r._space,h=l(10,o),d=l(9,o)-h>=c?rm:l(7,o)-h>=c?qx:l(5,o)-h>=c?Yx:bp;if(d==bp){let u=mn(l(1,o)-h);if(u<c)return vu(t.slice().reverse(),a.distr,d,_i(c/u)).reverse()}return vu(t,a.distr,d,1)}function Jx(i,t,e,n,s){let r=i.axes[e],o=r.scale,a=r._space,l=i.valToPos,c=mn(l(1,o)-l(2,o));return c<a?vu(t.slice().reverse(),3,rm,_i(a/c)).reverse():t}function $x(i,t,e,n){return n==null?wu:t==null?"":Cu(t)}var wp={show:!0,scale:"y",stroke:bu,space:30,gap:5,alignTo:1,size:50,labelGap:0,labelSize:30,labelFont:im,side:3,grid:Lu,ticks:em,border:nm,font:Du,lineGap:sm,rotate:0};function Kx(i,t){let e=3+(i||1)*2;return Oe(e*t,3)}function jx(i,t){let{scale:e,idxs:n}=i.series[0],s=i._data[0],r=i.valToPos(s[n[0]],e,!0),o=i.valToPos(s[n[1]],e,!0),a=mn(o-r),l=i.series[t],c=a/(l.points.space*Ae);return n[1]-n[0]<=c}var Ap={scale:null,auto:!0,sorted:0,min:Fe,max:-Fe},om=(i,t,e,n,s)=>s,Ep={show:!0,auto:!0,sorted:0,gaps:om,alpha:1,facets:[hn({},Ap,{scale:"x"}),hn({},Ap,{scale:"y"})]},Tp={scale:"y",auto:!0,sorted:0,show:!0,spanGaps:!1,gaps:om,alpha:1,points:{show:jx,filter:null},values:null,min:Fe,max:-Fe,idxs:[],path:null,clip:null};function Qx(i,t,e,n,s){return e/10}var am={time:!0,auto:!0,distr:1,log:10,asinh:1,min:null,max:null,dir:1,ori:0},tv=hn({},am,{time:!1,ori:1}),Cp={};function lm(i,t){let e=Cp[i];return e||(e={key:i,plots:[],sub(n){e.plots.push(n)},unsub(n){e.plots=e.plots.filter(s=>s!=n)},pub(n,s,r,o,a,l,c){for(let h=0;h<e.plots.length;h++)e.plots[h]!=s&&e.plots[h].pub(n,s,r,o,a,l,c)}},i!=null&&(Cp[i]=e)),e}var kr=1,yu=2;function lr(i,t,e){let n=i.mode,s=i.series[t],r=n==2?i._data[t]:i._data,o=i.scales,a=i.bbox,l=r[0],c=n==2?r[1]:r[t],h=n==2?o[s.facets[0].scale]:o[i.series[0].scale],d=n==2?o[s.facets[1].scale]:o[s.scale],u=a.left,f=a.top,g=a.width,y=a.height,m=i.valToPosH,p=i.valToPosV;return h.ori==0?e(s,l,c,h,d,m,p,u,f,g,y,gl,Vr,xl,hm,dm):e(s,l,c,h,d,p,m,f,u,y,g,_l,Gr,Fu,um,fm)}function Nu(i,t){let e=0,n=0,s=Me(i.bands,Ru);for(let r=0;r<s.length;r++){let o=s[r];o.series[0]==t?e=o.dir:o.series[1]==t&&(o.dir==1?n|=1:n|=2)}return[e,n==1?-1:n==2?1:n==3?2:0]}function ev(i,t,e,n,s){let r=i.mode,o=i.series[t],a=r==2?o.facets[1].scale:o.scale,l=i.scales[a];return s==-1?l.min:s==1?l.max:l.distr==3?l.dir==1?l.min:l.max:0}function us(i,t,e,n,s,r){return lr(i,t,(o,a,l,c,h,d,u,f,g,y,m)=>{let p=o.pxRound,v=c.dir*(c.ori==0?1:-1),T=c.ori==0?Vr:Gr,M,P;v==1?(M=e,P=n):(M=n,P=e);let E=p(d(a[M],c,y,f)),x=p(u(l[M],h,m,g)),A=p(d(a[P],c,y,f)),k=p(u(r==1?h.max:h.min,h,m,g)),N=new Path2D(s);return T(N,A,k),T(N,E,k),T(N,E,x),N})}function ml(i,t,e,n,s,r){let o=null;if(i.length>0){o=new Path2D;let a=t==0?xl:Fu,l=e;for(let d=0;d<i.length;d++){let u=i[d];if(u[1]>u[0]){let f=u[0]-l;f>0&&a(o,l,n,f,n+r),l=u[1]}}let c=e+s-l,h=10;c>0&&a(o,l,n-h/2,c,n+r+h)}return o}function nv(i,t,e){let n=i[i.length-1];n&&n[0]==t?n[1]=e:i.push([t,e])}function Uu(i,t,e,n,s,r,o){let a=[],l=i.length;for(let c=s==1?e:n;c>=e&&c<=n;c+=s)if(t[c]===null){let d=c,u=c;if(s==1)for(;++c<=n&&t[c]===null;)u=c;else for(;--c>=e&&t[c]===null;)u=c;let f=r(i[d]),g=u==d?f:r(i[u]),y=d-s;f=o<=0&&y>=0&&y<l?r(i[y]):f;let p=u+s;g=o>=0&&p>=0&&p<l?r(i[p]):g,g>=f&&a.push([f,g])}return a}function Rp(i){return i==0?kp:i==1?pn:t=>ir(t,i)}function cm(i){let t=i==0?gl:_l,e=i==0?(s,r,o,a,l,c)=>{s.arcTo(r,o,a,l,c)}:(s,r,o,a,l,c)=>{s.arcTo(o,r,l,a,c)},n=i==0?(s,r,o,a,l)=>{s.rect(r,o,a,l)}:(s,r,o,a,l)=>{s.rect(o,r,l,a)};return(s,r,o,a,l,c=0,h=0)=>{c==0&&h==0?n(s,r,o,a,l):(c=Pi(c,a/2,l/2),h=Pi(h,a/2,l/2),t(s,r+c,o),e(s,r+a,o,r+a,o+l,c),e(s,r+a,o+l,r,o+l,h),e(s,r,o+l,r,o,h),e(s,r,o,r+a,o,c),s.closePath())}}var gl=(i,t,e)=>{i.moveTo(t,e)},_l=(i,t,e)=>{i.moveTo(e,t)},Vr=(i,t,e)=>{i.lineTo(t,e)},Gr=(i,t,e)=>{i.lineTo(e,t)},xl=cm(0),Fu=cm(1),hm=(i,t,e,n,s,r)=>{i.arc(t,e,n,s,r)},um=(i,t,e,n,s,r)=>{i.arc(e,t,n,s,r)},dm=(i,t,e,n,s,r,o)=>{i.bezierCurveTo(t,e,n,s,r,o)},fm=(i,t,e,n,s,r,o)=>{i.bezierCurveTo(e,t,s,n,o,r)};function pm(i){return(t,e,n,s,r)=>lr(t,e,(o,a,l,c,h,d,u,f,g,y,m)=>{let{pxRound:p,points:v}=o,T,M;c.ori==0?(T=gl,M=hm):(T=_l,M=um);let P=Oe(v.width*Ae,3),E=(v.size-v.width)/2*Ae,x=Oe(E*2,3),A=new Path2D,k=new Path2D,{left:N,top:D,width:z,height:H}=t.bbox;xl(k,N-x,D-x,z+x*2,H+x*2);let L=W=>{if(l[W]!=null){let Y=p(d(a[W],c,y,f)),G=p(u(l[W],h,m,g));T(A,Y+E,G),M(A,Y,G,E,0,al*2)}};if(r)r.forEach(L);else for(let W=n;W<=s;W++)L(W);return{stroke:P>0?A:null,fill:A,clip:k,flags:kr|yu}})}function mm(i){return(t,e,n,s,r,o)=>{n!=s&&(r!=n&&o!=n&&i(t,e,n),r!=s&&o!=s&&i(t,e,s),i(t,e,o))}}var iv=mm(Vr),sv=mm(Gr);function gm(i){let t=Me(i?.alignGaps,0);return(e,n,s,r)=>lr(e,n,(o,a,l,c,h,d,u,f,g,y,m)=>{[s,r]=ul(l,s,r);let p=o.pxRound,v=H=>p(d(H,c,y,f)),T=H=>p(u(H,h,m,g)),M,P;c.ori==0?(M=Vr,P=iv):(M=Gr,P=sv);let E=c.dir*(c.ori==0?1:-1),x={stroke:new Path2D,fill:null,clip:null,band:null,gaps:null,flags:kr},A=x.stroke,k=!1;if(r-s>=y*4){let H=ht=>e.posToVal(ht,c.key,!0),L=null,W=null,Y,G,lt,$=v(a[E==1?s:r]),j=v(a[s]),it=v(a[r]),ut=H(E==1?j+1:it-1);for(let ht=E==1?s:r;ht>=s&&ht<=r;ht+=E){let Q=a[ht],xt=(E==1?Q<ut:Q>ut)?$:v(Q),Tt=l[ht];xt==$?Tt!=null?(G=Tt,L==null?(M(A,xt,T(G)),Y=L=W=G):G<L?L=G:G>W&&(W=G)):Tt===null&&(k=!0):(L!=null&&P(A,$,T(L),T(W),T(Y),T(G)),Tt!=null?(G=Tt,M(A,xt,T(G)),L=W=Y=G):(L=W=null,Tt===null&&(k=!0)),$=xt,ut=H($+E))}L!=null&&L!=W&&lt!=$&&P(A,$,T(L),T(W),T(Y),T(G))}else for(let H=E==1?s:r;H>=s&&H<=r;H+=E){let L=l[H];L===null?k=!0:L!=null&&M(A,v(a[H]),T(L))}let[D,z]=Nu(e,n);if(o.fill!=null||D!=0){let H=x.fill=new Path2D(A),L=o.fillTo(e,n,o.min,o.max,D),W=T(L),Y=v(a[s]),G=v(a[r]);E==-1&&([G,Y]=[Y,G]),M(H,G,W),M(H,Y,W)}if(!o.spanGaps){let H=[];k&&H.push(...Uu(a,l,s,r,E,v,t)),x.gaps=H=o.gaps(e,n,s,r,H),x.clip=ml(H,c.ori,f,g,y,m)}return z!=0&&(x.band=z==2?[us(e,n,s,r,A,-1),us(e,n,s,r,A,1)]:us(e,n,s,r,A,z)),x})}function rv(i){let t=Me(i.align,1),e=Me(i.ascDesc,!1),n=Me(i.alignGaps,0),s=Me(i.extend,!1);return(r,o,a,l)=>lr(r,o,(c,h,d,u,f,g,y,m,p,v,T)=>{[a,l]=ul(d,a,l);let M=c.pxRound,{left:P,width:E}=r.bbox,x=j=>M(g(j,u,v,m)),A=j=>M(y(j,f,T,p)),k=u.ori==0?Vr:Gr,N={stroke:new Path2D,fill:null,clip:null,band:null,gaps:null,flags:kr},D=N.stroke,z=u.dir*(u.ori==0?1:-1),H=A(d[z==1?a:l]),L=x(h[z==1?a:l]),W=L,Y=L;s&&t==-1&&(Y=P,k(D,Y,H)),k(D,L,H);for(let j=z==1?a:l;j>=a&&j<=l;j+=z){let it=d[j];if(it==null)continue;let ut=x(h[j]),ht=A(it);t==1?k(D,ut,H):k(D,W,ht),k(D,ut,ht),H=ht,W=ut}let G=W;s&&t==1&&(G=P+E,k(D,G,H));let[lt,$]=Nu(r,o);if(c.fill!=null||lt!=0){let j=N.fill=new Path2D(D),it=c.fillTo(r,o,c.min,c.max,lt),ut=A(it);k(j,G,ut),k(j,Y,ut)}if(!c.spanGaps){let j=[];j.push(...Uu(h,d,a,l,z,x,n));let it=c.width*Ae/2,ut=e||t==1?it:-it,ht=e||t==-1?-it:it;j.forEach(Q=>{Q[0]+=ut,Q[1]+=ht}),N.gaps=j=c.gaps(r,o,a,l,j),N.clip=ml(j,u.ori,m,p,v,T)}return $!=0&&(N.band=$==2?[us(r,o,a,l,D,-1),us(r,o,a,l,D,1)]:us(r,o,a,l,D,$)),N})}function Pp(i,t,e,n,s,r,o=Fe){if(i.length>1){let a=null;for(let l=0,c=1/0;l<i.length;l++)if(t[l]!==void 0){if(a!=null){let h=mn(i[l]-i[a]);h<c&&(c=h,o=mn(e(i[l],n,s,r)-e(i[a],n,s,r)))}a=l}}return o}function ov(i){i=i||Xo;let t=Me(i.size,[.6,Fe,1]),e=i.align||0,n=i.gap||0,s=i.radius;s=s==null?[0,0]:typeof s=="number"?[s,0]:s;let r=ge(s),o=1-t[0],a=Me(t[1],Fe),l=Me(t[2],1),c=Me(i.disp,Xo),h=Me(i.each,f=>{}),{fill:d,stroke:u}=c;return(f,g,y,m)=>lr(f,g,(p,v,T,M,P,E,x,A,k,N,D)=>{let z=p.pxRound,H=e,L=n*Ae,W=a*Ae,Y=l*Ae,G,lt;M.ori==0?[G,lt]=r(f,g):[lt,G]=r(f,g);let $=M.dir*(M.ori==0?1:-1),j=M.ori==0?xl:Fu,it=M.ori==0?h:(Rt,Yt,re,bt,Ue,zt,Xt)=>{h(Rt,Yt,re,Ue,bt,Xt,zt)},ut=Me(f.bands,Ru).find(Rt=>Rt.series[0]==g),ht=ut!=null?ut.dir:0,Q=p.fillTo(f,g,p.min,p.max,ht),mt=z(x(Q,P,D,k)),xt,Tt,Mt,Ht=N,se=z(p.width*Ae),Vt=!1,ue=null,ae=null,ee=null,Ye=null;d!=null&&(se==0||u!=null)&&(Vt=!0,ue=d.values(f,g,y,m),ae=new Map,new Set(ue).forEach(Rt=>{Rt!=null&&ae.set(Rt,new Path2D)}),se>0&&(ee=u.values(f,g,y,m),Ye=new Map,new Set(ee).forEach(Rt=>{Rt!=null&&Ye.set(Rt,new Path2D)})));let{x0:Be,size:sn}=c;if(Be!=null&&sn!=null){H=1,v=Be.values(f,g,y,m),Be.unit==2&&(v=v.map(re=>f.posToVal(A+re*N,M.key,!0)));let Rt=sn.values(f,g,y,m);sn.unit==2?Tt=Rt[0]*N:Tt=E(Rt[0],M,N,A)-E(0,M,N,A),Ht=Pp(v,T,E,M,N,A,Ht),Mt=Ht-Tt+L}else Ht=Pp(v,T,E,M,N,A,Ht),Mt=Ht*o+L,Tt=Ht-Mt;Mt<1&&(Mt=0),se>=Tt/2&&(se=0),Mt<5&&(z=kp);let De=Mt>0,xn=Ht-Mt-(De?se:0);Tt=z(_u(xn,Y,W)),xt=(H==0?Tt/2:H==$?0:Tt)-H*$*((H==0?L/2:0)+(De?se/2:0));let ve={stroke:null,fill:null,clip:null,band:null,gaps:null,flags:0},dn=Vt?null:new Path2D,$e=null;if(ut!=null)$e=f.data[ut.series[1]];else{let{y0:Rt,y1:Yt}=c;Rt!=null&&Yt!=null&&(T=Yt.values(f,g,y,m),$e=Rt.values(f,g,y,m))}let rn=G*Tt,F=lt*Tt;for(let Rt=$==1?y:m;Rt>=y&&Rt<=m;Rt+=$){let Yt=T[Rt];if(Yt==null)continue;if($e!=null){let X=$e[Rt]??0;if(Yt-X==0)continue;mt=x(X,P,D,k)}let re=M.distr!=2||c!=null?v[Rt]:Rt,bt=E(re,M,N,A),Ue=x(Me(Yt,Q),P,D,k),zt=z(bt-xt),Xt=z(Wn(Ue,mt)),C=z(Pi(Ue,mt)),S=Xt-C;if(Yt!=null){let X=Yt<0?F:rn,ct=Yt<0?rn:F;Vt?(se>0&&ee[Rt]!=null&&j(Ye.get(ee[Rt]),zt,C+si(se/2),Tt,Wn(0,S-se),X,ct),ue[Rt]!=null&&j(ae.get(ue[Rt]),zt,C+si(se/2),Tt,Wn(0,S-se),X,ct)):j(dn,zt,C+si(se/2),Tt,Wn(0,S-se),X,ct),it(f,g,Rt,zt-se/2,C,Tt+se,S)}}return se>0?ve.stroke=Vt?Ye:dn:Vt||(ve._fill=p.width==0?p._fill:p._stroke??p._fill,ve.width=0),ve.fill=Vt?ae:dn,ve})}function av(i,t){let e=Me(t?.alignGaps,0);return(n,s,r,o)=>lr(n,s,(a,l,c,h,d,u,f,g,y,m,p)=>{[r,o]=ul(c,r,o);let v=a.pxRound,T=G=>v(u(G,h,m,g)),M=G=>v(f(G,d,p,y)),P,E,x;h.ori==0?(P=gl,x=Vr,E=dm):(P=_l,x=Gr,E=fm);let A=h.dir*(h.ori==0?1:-1),k=T(l[A==1?r:o]),N=k,D=[],z=[];for(let G=A==1?r:o;G>=r&&G<=o;G+=A)if(c[G]!=null){let $=l[G],j=T($);D.push(N=j),z.push(M(c[G]))}let H={stroke:i(D,z,P,x,E,v),fill:null,clip:null,band:null,gaps:null,flags:kr},L=H.stroke,[W,Y]=Nu(n,s);if(a.fill!=null||W!=0){let G=H.fill=new Path2D(L),lt=a.fillTo(n,s,a.min,a.max,W),$=M(lt);x(G,N,$),x(G,k,$)}if(!a.spanGaps){let G=[];G.push(...Uu(l,c,r,o,A,T,e)),H.gaps=G=a.gaps(n,s,r,o,G),H.clip=ml(G,h.ori,g,y,m,p)}return Y!=0&&(H.band=Y==2?[us(n,s,r,o,L,-1),us(n,s,r,o,L,1)]:us(n,s,r,o,L,Y)),H})}function lv(i){return av(cv,i)}function cv(i,t,e,n,s,r){let o=i.length;if(o<2)return null;let a=new Path2D;if(e(a,i[0],t[0]),o==2)n(a,i[1],t[1]);else{let l=Array(o),c=Array(o-1),h=Array(o-1),d=Array(o-1);for(let u=0;u<o-1;u++)h[u]=t[u+1]-t[u],d[u]=i[u+1]-i[u],c[u]=h[u]/d[u];l[0]=c[0];for(let u=1;u<o-1;u++)c[u]===0||c[u-1]===0||c[u-1]>0!=c[u]>0?l[u]=0:(l[u]=3*(d[u-1]+d[u])/((2*d[u]+d[u-1])/c[u-1]+(d[u]+2*d[u-1])/c[u]),isFinite(l[u])||(l[u]=0));l[o-1]=c[o-2];for(let u=0;u<o-1;u++)s(a,i[u]+d[u]/3,t[u]+l[u]*d[u]/3,i[u+1]-d[u]/3,t[u+1]-l[u+1]*d[u]/3,i[u+1],t[u+1])}return a}var Su=new Set;function Ip(){for(let i of Su)i.syncRect(!0)}zr&&(or(H_,Ur,Ip),or(W_,Ur,Ip,!0),or(ll,Ur,()=>{bn.pxRatio=Ae}));var hv=gm(),uv=pm();function Lp(i,t,e,n){return(n?[i[0],i[1]].concat(i.slice(2)):[i[0]].concat(i.slice(1))).map((r,o)=>Mu(r,o,t,e))}function dv(i,t){return i.map((e,n)=>n==0?{}:hn({},t,e))}function Mu(i,t,e,n){return hn({},t==0?e:n,i)}function _m(i,t,e){return t==null?Or:[t,e]}var fv=_m;function pv(i,t,e){return t==null?Or:cl(t,e,Tu,!0)}function xm(i,t,e,n){return t==null?Or:dl(t,e,i.scales[n].log,!1)}var mv=xm;function vm(i,t,e,n){return t==null?Or:Eu(t,e,i.scales[n].log,!1)}var gv=vm;function _v(i,t,e,n,s){let r=Wn(hp(i),hp(t)),o=t-i,a=Ri(s/n*o,e);do{let l=e[a],c=n*l/o;if(c>=s&&r+(l<5?Ds.get(l):0)<=17)return[l,c]}while(++a<e.length);return[0,0]}function Dp(i){let t,e;return i=i.replace(/(\d+)px/,(n,s)=>(t=pn((e=+s)*Ae))+"px"),[i,t,e]}function xv(i){i.show&&[i.font,i.labelFont].forEach(t=>{let e=Oe(t[2]*Ae,1);t[0]=t[0].replace(/[0-9.]+px/,e+"px"),t[1]=e})}function bn(i,t,e){let n={mode:Me(i.mode,1)},s=n.mode;function r(_,b,R,I){let V=b.valToPct(_);return I+R*(b.dir==-1?1-V:V)}function o(_,b,R,I){let V=b.valToPct(_);return I+R*(b.dir==-1?V:1-V)}function a(_,b,R,I){return b.ori==0?r(_,b,R,I):o(_,b,R,I)}n.valToPosH=r,n.valToPosV=o;let l=!1;n.status=0;let c=n.root=gi(A_);if(i.id!=null&&(c.id=i.id),ii(c,i.class),i.title){let _=gi(C_,c);_.textContent=i.title}let h=Ci("canvas"),d=n.ctx=h.getContext("2d"),u=gi(R_,c);or("click",u,_=>{_.target===g&&(ze!=Cr||Ze!=Rr)&&En.click(n,_)},!0);let f=n.under=gi(P_,u);u.appendChild(h);let g=n.over=gi(I_,u);i=Br(i);let y=+Me(i.pxAlign,1),m=Rp(y);(i.plugins||[]).forEach(_=>{_.opts&&(i=_.opts(n,i)||i)});let p=i.ms||.001,v=n.series=s==1?Lp(i.series||[],Mp,Tp,!1):dv(i.series||[null],Ep),T=n.axes=Lp(i.axes||[],Sp,wp,!0),M=n.scales={},P=n.bands=i.bands||[];P.forEach(_=>{_.fill=ge(_.fill||null),_.dir=Me(_.dir,-1)});let E=s==2?v[1].facets[0].scale:v[0].scale,x={axes:ls,series:fe},A=(i.drawOrder||["axes","series"]).map(_=>x[_]);function k(_){let b=_.distr==3?R=>hs(R>0?R:_.clamp(n,R,_.min,_.max,_.key)):_.distr==4?R=>cu(R,_.asinh):_.distr==100?R=>_.fwd(R):R=>R;return R=>{let I=b(R),{_min:V,_max:J}=_,ot=J-V;return(I-V)/ot}}function N(_){let b=M[_];if(b==null){let R=(i.scales||Xo)[_]||Xo;if(R.from!=null){N(R.from);let I=hn({},M[R.from],R,{key:_});I.valToPct=k(I),M[_]=I}else{b=M[_]=hn({},_==E?am:tv,R),b.key=_;let I=b.time,V=b.range,J=Ls(V);if((_!=E||s==2&&!I)&&(J&&(V[0]==null||V[1]==null)&&(V={min:V[0]==null?ap:{mode:1,hard:V[0],soft:V[0]},max:V[1]==null?ap:{mode:1,hard:V[1],soft:V[1]}},J=!1),!J&&pl(V))){let ot=V;V=(dt,yt,Dt)=>yt==null?Or:cl(yt,Dt,ot)}b.range=ge(V||(I?fv:_==E?b.distr==3?mv:b.distr==4?gv:_m:b.distr==3?xm:b.distr==4?vm:pv)),b.auto=ge(J?!1:b.auto),b.clamp=ge(b.clamp||Qx),b._min=b._max=null,b.valToPct=k(b)}}}N("x"),N("y"),s==1&&v.forEach(_=>{N(_.scale)}),T.forEach(_=>{N(_.scale)});for(let _ in i.scales)N(_);let D=M[E],z=D.distr,H,L;D.ori==0?(ii(c,E_),H=r,L=o):(ii(c,T_),H=o,L=r);let W={};for(let _ in M){let b=M[_];(b.min!=null||b.max!=null)&&(W[_]={min:b.min,max:b.max},b.min=b.max=null)}let Y=i.tzDate||(_=>new Date(pn(_/p))),G=i.fmtDate||Pu,lt=p==1?Ex(Y):Rx(Y),$=xp(Y,_p(p==1?Ax:Cx,G)),j=yp(Y,vp(Ix,G)),it=[],ut=n.legend=hn({},Nx,i.legend),ht=n.cursor=hn({},zx,{drag:{y:s==2}},i.cursor),Q=ut.show,mt=ht.show,xt=ut.markers;ut.idxs=it,xt.width=ge(xt.width),xt.dash=ge(xt.dash),xt.stroke=ge(xt.stroke),xt.fill=ge(xt.fill);let Tt,Mt,Ht,se=[],Vt=[],ue,ae=!1,ee={};if(ut.live){let _=v[1]?v[1].values:null;ae=_!=null,ue=ae?_(n,1,0):{_:0};for(let b in ue)ee[b]=wu}if(Q)if(Tt=Ci("table",O_,c),Ht=Ci("tbody",null,Tt),ut.mount(n,Tt),ae){Mt=Ci("thead",null,Tt,Ht);let _=Ci("tr",null,Mt);Ci("th",null,_);for(var Ye in ue)Ci("th",Zf,_).textContent=Ye}else ii(Tt,k_),ut.live&&ii(Tt,B_);let Be={show:!0},sn={show:!1};function De(_,b){if(b==0&&(ae||!ut.live||s==2))return Or;let R=[],I=Ci("tr",z_,Ht,Ht.childNodes[b]);ii(I,_.class),_.show||ii(I,rr);let V=Ci("th",null,I);if(xt.show){let dt=gi(V_,V);if(b>0){let yt=xt.width(n,b);yt&&(dt.style.border=yt+"px "+xt.dash(n,b)+" "+xt.stroke(n,b)),dt.style.background=xt.fill(n,b)}}let J=gi(Zf,V);_.label instanceof HTMLElement?J.appendChild(_.label):J.textContent=_.label,b>0&&(xt.show||(J.style.color=_.width>0?xt.stroke(n,b):xt.fill(n,b)),ve("click",V,dt=>{if(ht._lock)return;Jt(dt);let yt=v.indexOf(_);if((dt.ctrlKey||dt.metaKey)!=ut.isolate){let Dt=v.some((Nt,Ft)=>Ft>0&&Ft!=yt&&Nt.show);v.forEach((Nt,Ft)=>{Ft>0&&Hi(Ft,Dt?Ft==yt?Be:sn:Be,!0,cn.setSeries)})}else Hi(yt,{show:!_.show},!0,cn.setSeries)},!1),$t&&ve(jf,V,dt=>{ht._lock||(Jt(dt),Hi(v.indexOf(_),Ir,!0,cn.setSeries))},!1));for(var ot in ue){let dt=Ci("td",G_,I);dt.textContent="--",R.push(dt)}return[I,R]}let xn=new Map;function ve(_,b,R,I=!0){let V=xn.get(b)||{},J=ht.bind[_](n,b,R,I);J&&(or(_,b,V[_]=J),xn.set(b,V))}function dn(_,b,R){let I=xn.get(b)||{};for(let V in I)(_==null||V==_)&&(gu(V,b,I[V]),delete I[V]);_==null&&xn.delete(b)}let $e=0,rn=0,F=0,Rt=0,Yt=0,re=0,bt=Yt,Ue=re,zt=F,Xt=Rt,C=0,S=0,X=0,ct=0;n.bbox={};let rt=!1,_t=!1,vt=!1,tt=!1,nt=!1,ft=!1;function U(_,b,R){(R||_!=n.width||b!=n.height)&&st(_,b),le(!1),vt=!0,_t=!0,Ln()}function st(_,b){n.width=$e=F=_,n.height=rn=Rt=b,Yt=re=0,St(),Gt();let R=n.bbox;C=R.left=ir(Yt*Ae,.5),S=R.top=ir(re*Ae,.5),X=R.width=ir(F*Ae,.5),ct=R.height=ir(Rt*Ae,.5)}let et=3;function wt(){let _=!1,b=0;for(;!_;){b++;let R=Ar(b),I=Gi(b);_=b==et||R&&I,_||(st(n.width,n.height),_t=!0)}}function gt({width:_,height:b}){U(_,b)}n.setSize=gt;function St(){let _=!1,b=!1,R=!1,I=!1;T.forEach((V,J)=>{if(V.show&&V._show){let{side:ot,_size:dt}=V,yt=ot%2,Dt=V.label!=null?V.labelSize:0,Nt=dt+Dt;Nt>0&&(yt?(F-=Nt,ot==3?(Yt+=Nt,I=!0):R=!0):(Rt-=Nt,ot==0?(re+=Nt,_=!0):b=!0))}}),zi[0]=_,zi[1]=R,zi[2]=b,zi[3]=I,F-=Ai[1]+Ai[3],Yt+=Ai[3],Rt-=Ai[2]+Ai[0],re+=Ai[0]}function Gt(){let _=Yt+F,b=re+Rt,R=Yt,I=re;function V(J,ot){switch(J){case 1:return _+=ot,_-ot;case 2:return b+=ot,b-ot;case 3:return R-=ot,R+ot;case 0:return I-=ot,I+ot}}T.forEach((J,ot)=>{if(J.show&&J._show){let dt=J.side;J._pos=V(dt,J._size),J.label!=null&&(J._lpos=V(dt,J.labelSize))}})}if(ht.dataIdx==null){let _=ht.hover,b=_.skip=new Set(_.skip??[]);b.add(void 0);let R=_.prox=ge(_.prox),I=_.bias??=0;ht.dataIdx=(V,J,ot,dt)=>{if(J==0)return ot;let yt=ot,Dt=R(V,J,ot,dt)??Fe,Nt=Dt>=0&&Dt<Fe,Ft=D.ori==0?F:Rt,ne=ht.left,we=t[0],Se=t[J];if(b.has(Se[ot])){yt=null;let pe=null,Zt=null,Wt;if(I==0||I==-1)for(Wt=ot;pe==null&&Wt-- >0;)b.has(Se[Wt])||(pe=Wt);if(I==0||I==1)for(Wt=ot;Zt==null&&Wt++<Se.length;)b.has(Se[Wt])||(Zt=Wt);if(pe!=null||Zt!=null)if(Nt){let Ge=pe==null?-1/0:H(we[pe],D,Ft,0),Qe=Zt==null?1/0:H(we[Zt],D,Ft,0),Mn=ne-Ge,Ne=Qe-ne;Mn<=Ne?Mn<=Dt&&(yt=pe):Ne<=Dt&&(yt=Zt)}else yt=Zt==null?pe:pe==null?Zt:ot-pe<=Zt-ot?pe:Zt}else Nt&&mn(ne-H(we[ot],D,Ft,0))>Dt&&(yt=null);return yt}}let Jt=_=>{ht.event=_};ht.idxs=it,ht._lock=!1;let at=ht.points;at.show=ge(at.show),at.size=ge(at.size),at.stroke=ge(at.stroke),at.width=ge(at.width),at.fill=ge(at.fill);let Ot=n.focus=hn({},i.focus||{alpha:.3},ht.focus),$t=Ot.prox>=0,Ct=$t&&at.one,oe=[],ke=[],kn=[];function Ro(_,b){let R=at.show(n,b);if(R instanceof HTMLElement)return ii(R,F_),ii(R,_.class),Zi(R,-10,-10,F,Rt),g.insertBefore(R,oe[b]),R}function Mr(_,b){if(s==1||b>0){let R=s==1&&M[_.scale].time,I=_.value;_.value=R?fp(I)?yp(Y,vp(I,G)):I||j:I||$x,_.label=_.label||(R?Gx:Vx)}if(Ct||b>0){_.width=_.width==null?1:_.width,_.paths=_.paths||hv||tx,_.fillTo=ge(_.fillTo||ev),_.pxAlign=+Me(_.pxAlign,y),_.pxRound=Rp(_.pxAlign),_.stroke=ge(_.stroke||null),_.fill=ge(_.fill||null),_._stroke=_._fill=_._paths=_._focus=null;let R=Kx(Wn(1,_.width),1),I=_.points=hn({},{size:R,width:Wn(1,R*.2),stroke:_.stroke,space:R*2,paths:uv,_stroke:null,_fill:null},_.points);I.show=ge(I.show),I.filter=ge(I.filter),I.fill=ge(I.fill),I.stroke=ge(I.stroke),I.paths=ge(I.paths),I.pxAlign=_.pxAlign}if(Q){let R=De(_,b);se.splice(b,0,R[0]),Vt.splice(b,0,R[1]),ut.values.push(null)}if(mt){it.splice(b,0,null);let R=null;Ct?b==0&&(R=Ro(_,b)):b>0&&(R=Ro(_,b)),oe.splice(b,0,R),ke.splice(b,0,0),kn.splice(b,0,0)}Sn("addSeries",b)}function Xh(_,b){b=b??v.length,_=s==1?Mu(_,b,Mp,Tp):Mu(_,b,{},Ep),v.splice(b,0,_),Mr(v[b],b)}n.addSeries=Xh;function tl(_){if(v.splice(_,1),Q){ut.values.splice(_,1),Vt.splice(_,1);let b=se.splice(_,1)[0];dn(null,b.firstChild),b.remove()}mt&&(it.splice(_,1),oe.splice(_,1)[0].remove(),ke.splice(_,1),kn.splice(_,1)),Sn("delSeries",_)}n.delSeries=tl;let zi=[!1,!1,!1,!1];function rs(_,b){if(_._show=_.show,_.show){let R=_.side%2,I=M[_.scale];I==null&&(_.scale=R?v[1].scale:E,I=M[_.scale]);let V=I.time;_.size=ge(_.size),_.space=ge(_.space),_.rotate=ge(_.rotate),Ls(_.incrs)&&_.incrs.forEach(ot=>{!Ds.has(ot)&&Ds.set(ot,Gp(ot))}),_.incrs=ge(_.incrs||(I.distr==2?Mx:V?p==1?wx:Tx:sr)),_.splits=ge(_.splits||(V&&I.distr==1?lt:I.distr==3?xu:I.distr==4?Xx:Wx)),_.stroke=ge(_.stroke),_.grid.stroke=ge(_.grid.stroke),_.ticks.stroke=ge(_.ticks.stroke),_.border.stroke=ge(_.border.stroke);let J=_.values;_.values=Ls(J)&&!Ls(J[0])?ge(J):V?Ls(J)?xp(Y,_p(J,G)):fp(J)?Px(Y,J):J||$:J||Hx,_.filter=ge(_.filter||(I.distr>=3&&I.log==10?Zx:I.distr==3&&I.log==2?Jx:zp)),_.font=Dp(_.font),_.labelFont=Dp(_.labelFont),_._size=_.size(n,null,b,0),_._space=_._rotate=_._incrs=_._found=_._splits=_._values=null,_._size>0&&(zi[b]=!0,_._el=gi(L_,u))}}function os(_,b,R,I){let[V,J,ot,dt]=R,yt=b%2,Dt=0;return yt==0&&(dt||J)&&(Dt=b==0&&!V||b==2&&!ot?pn(Sp.size/3):0),yt==1&&(V||ot)&&(Dt=b==1&&!J||b==3&&!dt?pn(wp.size/2):0),Dt}let Po=n.padding=(i.padding||[os,os,os,os]).map(_=>ge(Me(_,os))),Ai=n._padding=Po.map((_,b)=>_(n,b,zi,0)),Ke,en=null,nn=null,Vi=s==1?v[0].idxs:null,Qn=null,Es=!1;function Io(_,b){if(t=_??[],n.data=n._data=t,s==2){Ke=0;for(let R=1;R<v.length;R++)Ke+=t[R][0].length}else{t.length==0&&(n.data=n._data=t=[[]]),Qn=t[0],Ke=Qn.length;let R=t;if(z==2){R=t.slice();let I=R[0]=Array(Ke);for(let V=0;V<Ke;V++)I[V]=V}n._data=t=R}if(le(!0),Sn("setData"),z==2&&(vt=!0),b!==!1){let R=D;R.auto(n,Es)?Lo():Rs(E,R.min,R.max),tt=tt||ht.left>=0,ft=!0,Ln()}}n.setData=Io;function Lo(){Es=!0;let _,b;s==1&&(Ke>0?(en=Vi[0]=0,nn=Vi[1]=Ke-1,_=t[0][en],b=t[0][nn],z==2?(_=en,b=nn):_==b&&(z==3?[_,b]=dl(_,_,D.log,!1):z==4?[_,b]=Eu(_,_,D.log,!1):D.time?b=_+pn(86400/p):[_,b]=cl(_,b,Tu,!0))):(en=Vi[0]=_=null,nn=Vi[1]=b=null)),Rs(E,_,b)}let br,Ts,wr,w,B,K,q,Z,At,It;function Et(_,b,R,I,V,J){_??=$f,R??=Ru,I??="butt",V??=$f,J??="round",_!=br&&(d.strokeStyle=br=_),V!=Ts&&(d.fillStyle=Ts=V),b!=wr&&(d.lineWidth=wr=b),J!=B&&(d.lineJoin=B=J),I!=K&&(d.lineCap=K=I),R!=w&&d.setLineDash(w=R)}function Lt(_,b,R,I){b!=Ts&&(d.fillStyle=Ts=b),_!=q&&(d.font=q=_),R!=Z&&(d.textAlign=Z=R),I!=At&&(d.textBaseline=At=I)}function kt(_,b,R,I,V=0){if(I.length>0&&_.auto(n,Es)&&(b==null||b.min==null)){let J=Me(en,0),ot=Me(nn,I.length-1),dt=R.min==null?Z_(I,J,ot,V,_.distr==3):[R.min,R.max];_.min=Pi(_.min,R.min=dt[0]),_.max=Wn(_.max,R.max=dt[1])}}let jt={min:null,max:null};function de(){for(let I in M){let V=M[I];W[I]==null&&(V.min==null||W[E]!=null&&V.auto(n,Es))&&(W[I]=jt)}for(let I in M){let V=M[I];W[I]==null&&V.from!=null&&W[V.from]!=null&&(W[I]=jt)}W[E]!=null&&le(!0);let _={};for(let I in W){let V=W[I];if(V!=null){let J=_[I]=Br(M[I],ix);if(V.min!=null)hn(J,V);else if(I!=E||s==2)if(Ke==0&&J.from==null){let ot=J.range(n,null,null,I);J.min=ot[0],J.max=ot[1]}else J.min=Fe,J.max=-Fe}}if(Ke>0){v.forEach((I,V)=>{if(s==1){let J=I.scale,ot=W[J];if(ot==null)return;let dt=_[J];if(V==0){let yt=dt.range(n,dt.min,dt.max,J);dt.min=yt[0],dt.max=yt[1],en=Ri(dt.min,t[0]),nn=Ri(dt.max,t[0]),nn-en>1&&(t[0][en]<dt.min&&en++,t[0][nn]>dt.max&&nn--),I.min=Qn[en],I.max=Qn[nn]}else I.show&&I.auto&&kt(dt,ot,I,t[V],I.sorted);I.idxs[0]=en,I.idxs[1]=nn}else if(V>0&&I.show&&I.auto){let[J,ot]=I.facets,dt=J.scale,yt=ot.scale,[Dt,Nt]=t[V],Ft=_[dt],ne=_[yt];Ft!=null&&kt(Ft,W[dt],J,Dt,J.sorted),ne!=null&&kt(ne,W[yt],ot,Nt,ot.sorted),I.min=ot.min,I.max=ot.max}});for(let I in _){let V=_[I],J=W[I];if(V.from==null&&(J==null||J.min==null)){let ot=V.range(n,V.min==Fe?null:V.min,V.max==-Fe?null:V.max,I);V.min=ot[0],V.max=ot[1]}}}for(let I in _){let V=_[I];if(V.from!=null){let J=_[V.from];if(J.min==null)V.min=V.max=null;else{let ot=V.range(n,J.min,J.max,I);V.min=ot[0],V.max=ot[1]}}}let b={},R=!1;for(let I in _){let V=_[I],J=M[I];if(J.min!=V.min||J.max!=V.max){J.min=V.min,J.max=V.max;let ot=J.distr;J._min=ot==3?hs(J.min):ot==4?cu(J.min,J.asinh):ot==100?J.fwd(J.min):J.min,J._max=ot==3?hs(J.max):ot==4?cu(J.max,J.asinh):ot==100?J.fwd(J.max):J.max,b[I]=R=!0}}if(R){v.forEach((I,V)=>{s==2?V>0&&b.y&&(I._paths=null):b[I.scale]&&(I._paths=null)});for(let I in b)vt=!0,Sn("setScale",I);mt&&ht.left>=0&&(tt=ft=!0)}for(let I in W)W[I]=null}function Bt(_){let b=_u(en-1,0,Ke-1),R=_u(nn+1,0,Ke-1);for(;_[b]==null&&b>0;)b--;for(;_[R]==null&&R<Ke-1;)R++;return[b,R]}function fe(){if(Ke>0){let _=v.some(b=>b._focus)&&It!=Ot.alpha;_&&(d.globalAlpha=It=Ot.alpha),v.forEach((b,R)=>{if(R>0&&b.show&&(Je(R,!1),Je(R,!0),b._paths==null)){let I=It;It!=b.alpha&&(d.globalAlpha=It=b.alpha);let V=s==2?[0,t[R][0].length-1]:Bt(t[R]);b._paths=b.paths(n,R,V[0],V[1]),It!=I&&(d.globalAlpha=It=I)}}),v.forEach((b,R)=>{if(R>0&&b.show){let I=It;It!=b.alpha&&(d.globalAlpha=It=b.alpha),b._paths!=null&&Pe(R,!1);{let V=b._paths!=null?b._paths.gaps:null,J=b.points.show(n,R,en,nn,V),ot=b.points.filter(n,R,J,V);(J||ot)&&(b.points._paths=b.points.paths(n,R,en,nn,ot),Pe(R,!0))}It!=I&&(d.globalAlpha=It=I),Sn("drawSeries",R)}}),_&&(d.globalAlpha=It=1)}}function Je(_,b){let R=b?v[_].points:v[_];R._stroke=R.stroke(n,_),R._fill=R.fill(n,_)}function Pe(_,b){let R=b?v[_].points:v[_],{stroke:I,fill:V,clip:J,flags:ot,_stroke:dt=R._stroke,_fill:yt=R._fill,_width:Dt=R.width}=R._paths;Dt=Oe(Dt*Ae,3);let Nt=null,Ft=Dt%2/2;b&&yt==null&&(yt=Dt>0?"#fff":dt);let ne=R.pxAlign==1&&Ft>0;if(ne&&d.translate(Ft,Ft),!b){let we=C-Dt/2,Se=S-Dt/2,pe=X+Dt,Zt=ct+Dt;Nt=new Path2D,Nt.rect(we,Se,pe,Zt)}b?Ut(dt,Dt,R.dash,R.cap,yt,I,V,ot,J):Ie(_,dt,Dt,R.dash,R.cap,yt,I,V,ot,Nt,J),ne&&d.translate(-Ft,-Ft)}function Ie(_,b,R,I,V,J,ot,dt,yt,Dt,Nt){let Ft=!1;yt!=0&&P.forEach((ne,we)=>{if(ne.series[0]==_){let Se=v[ne.series[1]],pe=t[ne.series[1]],Zt=(Se._paths||Xo).band;Ls(Zt)&&(Zt=ne.dir==1?Zt[0]:Zt[1]);let Wt,Ge=null;Se.show&&Zt&&$_(pe,en,nn)?(Ge=ne.fill(n,we)||J,Wt=Se._paths.clip):Zt=null,Ut(b,R,I,V,Ge,ot,dt,yt,Dt,Nt,Wt,Zt),Ft=!0}}),Ft||Ut(b,R,I,V,J,ot,dt,yt,Dt,Nt)}let fn=kr|yu;function Ut(_,b,R,I,V,J,ot,dt,yt,Dt,Nt,Ft){Et(_,b,R,I,V),(yt||Dt||Ft)&&(d.save(),yt&&d.clip(yt),Dt&&d.clip(Dt)),Ft?(dt&fn)==fn?(d.clip(Ft),Nt&&d.clip(Nt),me(V,ot),on(_,J,b)):dt&yu?(me(V,ot),d.clip(Ft),on(_,J,b)):dt&kr&&(d.save(),d.clip(Ft),Nt&&d.clip(Nt),me(V,ot),d.restore(),on(_,J,b)):(me(V,ot),on(_,J,b)),(yt||Dt||Ft)&&d.restore()}function on(_,b,R){R>0&&(b instanceof Map?b.forEach((I,V)=>{d.strokeStyle=br=V,d.stroke(I)}):b!=null&&_&&d.stroke(b))}function me(_,b){b instanceof Map?b.forEach((R,I)=>{d.fillStyle=Ts=I,d.fill(R)}):b!=null&&_&&d.fill(b)}function as(_,b,R,I){let V=T[_],J;if(I<=0)J=[0,0];else{let ot=V._space=V.space(n,_,b,R,I),dt=V._incrs=V.incrs(n,_,b,R,I,ot);J=_v(b,R,dt,I,ot)}return V._found=J}function an(_,b,R,I,V,J,ot,dt,yt,Dt){let Nt=ot%2/2;y==1&&d.translate(Nt,Nt),Et(dt,ot,yt,Dt,dt),d.beginPath();let Ft,ne,we,Se,pe=V+(I==0||I==3?-J:J);R==0?(ne=V,Se=pe):(Ft=V,we=pe);for(let Zt=0;Zt<_.length;Zt++)b[Zt]!=null&&(R==0?Ft=we=_[Zt]:ne=Se=_[Zt],d.moveTo(Ft,ne),d.lineTo(we,Se));d.stroke(),y==1&&d.translate(-Nt,-Nt)}function Ar(_){let b=!0;return T.forEach((R,I)=>{if(!R.show)return;let V=M[R.scale];if(V.min==null){R._show&&(b=!1,R._show=!1,le(!1));return}else R._show||(b=!1,R._show=!0,le(!1));let J=R.side,ot=J%2,{min:dt,max:yt}=V,[Dt,Nt]=as(I,dt,yt,ot==0?F:Rt);if(Nt==0)return;let Ft=V.distr==2,ne=R._splits=R.splits(n,I,dt,yt,Dt,Nt,Ft),we=V.distr==2?ne.map(Wt=>Qn[Wt]):ne,Se=V.distr==2?Qn[ne[1]]-Qn[ne[0]]:Dt,pe=R._values=R.values(n,R.filter(n,we,I,Nt,Se),I,Nt,Se);R._rotate=J==2?R.rotate(n,pe,I,Nt):0;let Zt=R._size;R._size=_i(R.size(n,pe,I,_)),Zt!=null&&R._size!=Zt&&(b=!1)}),b}function Gi(_){let b=!0;return Po.forEach((R,I)=>{let V=R(n,I,zi,_);V!=Ai[I]&&(b=!1),Ai[I]=V}),b}function ls(){for(let _=0;_<T.length;_++){let b=T[_];if(!b.show||!b._show)continue;let R=b.side,I=R%2,V,J,ot=b.stroke(n,_),dt=R==0||R==3?-1:1,[yt,Dt]=b._found;if(b.label!=null){let Gn=b.labelGap*dt,ni=pn((b._lpos+Gn)*Ae);Lt(b.labelFont[0],ot,"center",R==2?"top":Jf),d.save(),I==1?(V=J=0,d.translate(ni,pn(S+ct/2)),d.rotate((R==3?-al:al)/2)):(V=pn(C+X/2),J=ni);let tr=Bp(b.label)?b.label(n,_,yt,Dt):b.label;d.fillText(tr,V,J),d.restore()}if(Dt==0)continue;let Nt=M[b.scale],Ft=I==0?X:ct,ne=I==0?C:S,we=b._splits,Se=Nt.distr==2?we.map(Gn=>Qn[Gn]):we,pe=Nt.distr==2?Qn[we[1]]-Qn[we[0]]:yt,Zt=b.ticks,Wt=b.border,Ge=Zt.show?Zt.size:0,Qe=pn(Ge*Ae),Mn=pn((b.alignTo==2?b._size-Ge-b.gap:b.gap)*Ae),Ne=b._rotate*-al/180,tn=m(b._pos*Ae),ti=(Qe+Mn)*dt,Vn=tn+ti;J=I==0?Vn:0,V=I==1?Vn:0;let pi=b.font[0],Ei=b.align==1?Dr:b.align==2?ou:Ne>0?Dr:Ne<0?ou:I==0?"center":R==3?ou:Dr,Xi=Ne||I==1?"middle":R==2?"top":Jf;Lt(pi,ot,Ei,Xi);let ei=b.font[1]*b.lineGap,mi=we.map(Gn=>m(a(Gn,Nt,Ft,ne))),Ti=b._values;for(let Gn=0;Gn<Ti.length;Gn++){let ni=Ti[Gn];if(ni!=null){I==0?V=mi[Gn]:J=mi[Gn],ni=""+ni;let tr=ni.indexOf(`
`)==-1?[ni]:ni.split(/\n/gm);for(let Hn=0;Hn<tr.length;Hn++){let Gf=tr[Hn];Ne?(d.save(),d.translate(V,J+Hn*ei),d.rotate(Ne),d.fillText(Gf,0,0),d.restore()):d.fillText(Gf,V,J+Hn*ei)}}}Zt.show&&an(mi,Zt.filter(n,Se,_,Dt,pe),I,R,tn,Qe,Oe(Zt.width*Ae,3),Zt.stroke(n,_),Zt.dash,Zt.cap);let qi=b.grid;qi.show&&an(mi,qi.filter(n,Se,_,Dt,pe),I,I==0?2:1,I==0?S:C,I==0?ct:X,Oe(qi.width*Ae,3),qi.stroke(n,_),qi.dash,qi.cap),Wt.show&&an([tn],[1],I==0?1:0,I==0?1:2,I==1?S:C,I==1?ct:X,Oe(Wt.width*Ae,3),Wt.stroke(n,_),Wt.dash,Wt.cap)}Sn("drawAxes")}function le(_){v.forEach((b,R)=>{R>0&&(b._paths=null,_&&(s==1?(b.min=null,b.max=null):b.facets.forEach(I=>{I.min=null,I.max=null})))})}let je=!1,zn=!1,Le=[];function ln(){zn=!1;for(let _=0;_<Le.length;_++)Sn(...Le[_]);Le.length=0}function Ln(){je||(hx(wf),je=!0)}function el(_,b=!1){je=!0,zn=b,_(n),wf(),b&&Le.length>0&&queueMicrotask(ln)}n.batch=el;function wf(){if(rt&&(de(),rt=!1),vt&&(wt(),vt=!1),_t){if(He(f,Dr,Yt),He(f,"top",re),He(f,Vo,F),He(f,Go,Rt),He(g,Dr,Yt),He(g,"top",re),He(g,Vo,F),He(g,Go,Rt),He(u,Vo,$e),He(u,Go,rn),h.width=pn($e*Ae),h.height=pn(rn*Ae),T.forEach(({_el:_,_show:b,_size:R,_pos:I,side:V})=>{if(_!=null)if(b){let J=V===3||V===0?R:0,ot=V%2==1;He(_,ot?"left":"top",I-J),He(_,ot?"width":"height",R),He(_,ot?"top":"left",ot?re:Yt),He(_,ot?"height":"width",ot?Rt:F),mu(_,rr)}else ii(_,rr)}),br=Ts=wr=B=K=q=Z=At=w=null,It=1,Uo(!0),Yt!=bt||re!=Ue||F!=zt||Rt!=Xt){le(!1);let _=F/zt,b=Rt/Xt;if(mt&&!tt&&ht.left>=0){ht.left*=_,ht.top*=b,Er&&Zi(Er,pn(ht.left),0,F,Rt),Tr&&Zi(Tr,0,pn(ht.top),F,Rt);for(let R=0;R<oe.length;R++){let I=oe[R];I!=null&&(ke[R]*=_,kn[R]*=b,Zi(I,_i(ke[R]),_i(kn[R]),F,Rt))}}if(Ve.show&&!nt&&Ve.left>=0&&Ve.width>0){Ve.left*=_,Ve.width*=_,Ve.top*=b,Ve.height*=b;for(let R in Kh)He(Pr,R,Ve[R])}bt=Yt,Ue=re,zt=F,Xt=Rt}Sn("setSize"),_t=!1}$e>0&&rn>0&&(d.clearRect(0,0,h.width,h.height),Sn("drawClear"),A.forEach(_=>_()),Sn("draw")),Ve.show&&nt&&(nl(Ve),nt=!1),mt&&tt&&(Qs(null,!0,!1),tt=!1),ut.show&&ut.live&&ft&&(Jh(),ft=!1),l||(l=!0,n.status=1,Sn("ready")),Es=!1,je=!1}n.redraw=(_,b)=>{vt=b||!1,_!==!1?Rs(E,D.min,D.max):Ln()};function qh(_,b){let R=M[_];if(R.from==null){if(Ke==0){let I=R.range(n,b.min,b.max,_);b.min=I[0],b.max=I[1]}if(b.min>b.max){let I=b.min;b.min=b.max,b.max=I}if(Ke>1&&b.min!=null&&b.max!=null&&b.max-b.min<1e-16)return;_==E&&R.distr==2&&Ke>0&&(b.min=Ri(b.min,t[0]),b.max=Ri(b.max,t[0]),b.min==b.max&&b.max++),W[_]=b,rt=!0,Ln()}}n.setScale=qh;let Yh,Zh,Er,Tr,Af,Ef,Cr,Rr,Tf,Cf,ze,Ze,Cs=!1,En=ht.drag,vn=En.x,yn=En.y;mt&&(ht.x&&(Yh=gi(N_,g)),ht.y&&(Zh=gi(U_,g)),D.ori==0?(Er=Yh,Tr=Zh):(Er=Zh,Tr=Yh),ze=ht.left,Ze=ht.top);let Ve=n.select=hn({show:!0,over:!0,left:0,width:0,top:0,height:0},i.select),Pr=Ve.show?gi(D_,Ve.over?g:f):null;function nl(_,b){if(Ve.show){for(let R in _)Ve[R]=_[R],R in Kh&&He(Pr,R,_[R]);b!==!1&&Sn("setSelect")}}n.setSelect=nl;function r_(_){if(v[_].show)Q&&mu(se[_],rr);else if(Q&&ii(se[_],rr),mt){let R=Ct?oe[0]:oe[_];R!=null&&Zi(R,-10,-10,F,Rt)}}function Rs(_,b,R){qh(_,{min:b,max:R})}function Hi(_,b,R,I){b.focus!=null&&h_(_),b.show!=null&&v.forEach((V,J)=>{J>0&&(_==J||_==null)&&(V.show=b.show,r_(J),s==2?(Rs(V.facets[0].scale,null,null),Rs(V.facets[1].scale,null,null)):Rs(V.scale,null,null),Ln())}),R!==!1&&Sn("setSeries",_,b),I&&Fo("setSeries",n,_,b)}n.setSeries=Hi;function o_(_,b){hn(P[_],b)}function a_(_,b){_.fill=ge(_.fill||null),_.dir=Me(_.dir,-1),b=b??P.length,P.splice(b,0,_)}function l_(_){_==null?P.length=0:P.splice(_,1)}n.addBand=a_,n.setBand=o_,n.delBand=l_;function c_(_,b){v[_].alpha=b,mt&&oe[_]!=null&&(oe[_].style.opacity=b),Q&&se[_]&&(se[_].style.opacity=b)}let cs,Ps,js,Ir={focus:!0};function h_(_){if(_!=js){let b=_==null,R=Ot.alpha!=1;v.forEach((I,V)=>{if(s==1||V>0){let J=b||V==0||V==_;I._focus=b?null:J,R&&c_(V,J?1:Ot.alpha)}}),js=_,R&&Ln()}}Q&&$t&&ve(Qf,Tt,_=>{ht._lock||(Jt(_),js!=null&&Hi(null,Ir,!0,cn.setSeries))});function Wi(_,b,R){let I=M[b];R&&(_=_/Ae-(I.ori==1?re:Yt));let V=F;I.ori==1&&(V=Rt,_=V-_),I.dir==-1&&(_=V-_);let J=I._min,ot=I._max,dt=_/V,yt=J+(ot-J)*dt,Dt=I.distr;return Dt==3?Fr(10,yt):Dt==4?j_(yt,I.asinh):Dt==100?I.bwd(yt):yt}function u_(_,b){let R=Wi(_,E,b);return Ri(R,t[0],en,nn)}n.valToIdx=_=>Ri(_,t[0]),n.posToIdx=u_,n.posToVal=Wi,n.valToPos=(_,b,R)=>M[b].ori==0?r(_,M[b],R?X:F,R?C:0):o(_,M[b],R?ct:Rt,R?S:0),n.setCursor=(_,b,R)=>{ze=_.left,Ze=_.top,Qs(null,b,R)};function Rf(_,b){He(Pr,Dr,Ve.left=_),He(Pr,Vo,Ve.width=b)}function Pf(_,b){He(Pr,"top",Ve.top=_),He(Pr,Go,Ve.height=b)}let Do=D.ori==0?Rf:Pf,No=D.ori==1?Rf:Pf;function d_(){if(Q&&ut.live)for(let _=s==2?1:0;_<v.length;_++){if(_==0&&ae)continue;let b=ut.values[_],R=0;for(let I in b)Vt[_][R++].firstChild.nodeValue=b[I]}}function Jh(_,b){if(_!=null&&(_.idxs?_.idxs.forEach((R,I)=>{it[I]=R}):nx(_.idx)||it.fill(_.idx),ut.idx=it[0]),Q&&ut.live){for(let R=0;R<v.length;R++)(R>0||s==1&&!ae)&&f_(R,it[R]);d_()}ft=!1,b!==!1&&Sn("setLegend")}n.setLegend=Jh;function f_(_,b){let R=v[_],I=_==0&&z==2?Qn:t[_],V;ae?V=R.values(n,_,b)??ee:(V=R.value(n,b==null?null:I[b],_,b),V=V==null?ee:{_:V}),ut.values[_]=V}function Qs(_,b,R){Tf=ze,Cf=Ze,[ze,Ze]=ht.move(n,ze,Ze),ht.left=ze,ht.top=Ze,mt&&(Er&&Zi(Er,pn(ze),0,F,Rt),Tr&&Zi(Tr,0,pn(Ze),F,Rt));let I,V=en>nn;cs=Fe,Ps=null;let J=D.ori==0?F:Rt,ot=D.ori==1?F:Rt;if(ze<0||Ke==0||V){I=ht.idx=null;for(let dt=0;dt<v.length;dt++){let yt=oe[dt];yt!=null&&Zi(yt,-10,-10,F,Rt)}$t&&Hi(null,Ir,!0,_==null&&cn.setSeries),ut.live&&(it.fill(I),ft=!0)}else{let dt,yt,Dt;s==1&&(dt=D.ori==0?ze:Ze,yt=Wi(dt,E),I=ht.idx=Ri(yt,t[0],en,nn),Dt=H(t[0][I],D,J,0));let Nt=-10,Ft=-10,ne=0,we=0,Se=!0,pe="",Zt="";for(let Wt=s==2?1:0;Wt<v.length;Wt++){let Ge=v[Wt],Qe=it[Wt],Mn=Qe==null?null:s==1?t[Wt][Qe]:t[Wt][1][Qe],Ne=ht.dataIdx(n,Wt,I,yt),tn=Ne==null?null:s==1?t[Wt][Ne]:t[Wt][1][Ne];if(ft=ft||tn!=Mn||Ne!=Qe,it[Wt]=Ne,Wt>0&&Ge.show){let ti=Ne==null?-10:Ne==I?Dt:H(s==1?t[0][Ne]:t[Wt][0][Ne],D,J,0),Vn=tn==null?-10:L(tn,s==1?M[Ge.scale]:M[Ge.facets[1].scale],ot,0);if($t&&tn!=null){let pi=D.ori==1?ze:Ze,Ei=mn(Ot.dist(n,Wt,Ne,Vn,pi));if(Ei<cs){let Xi=Ot.bias;if(Xi!=0){let ei=Wi(pi,Ge.scale),mi=tn>=0?1:-1,Ti=ei>=0?1:-1;Ti==mi&&(Ti==1?Xi==1?tn>=ei:tn<=ei:Xi==1?tn<=ei:tn>=ei)&&(cs=Ei,Ps=Wt)}else cs=Ei,Ps=Wt}}if(ft||Ct){let pi,Ei;D.ori==0?(pi=ti,Ei=Vn):(pi=Vn,Ei=ti);let Xi,ei,mi,Ti,qi,Gn,ni=!0,tr=at.bbox;if(tr!=null){ni=!1;let Hn=tr(n,Wt);mi=Hn.left,Ti=Hn.top,Xi=Hn.width,ei=Hn.height}else mi=pi,Ti=Ei,Xi=ei=at.size(n,Wt);if(Gn=at.fill(n,Wt),qi=at.stroke(n,Wt),Ct)Wt==Ps&&cs<=Ot.prox&&(Nt=mi,Ft=Ti,ne=Xi,we=ei,Se=ni,pe=Gn,Zt=qi);else{let Hn=oe[Wt];Hn!=null&&(ke[Wt]=mi,kn[Wt]=Ti,op(Hn,Xi,ei,ni),sp(Hn,Gn,qi),Zi(Hn,_i(mi),_i(Ti),F,Rt))}}}}if(Ct){let Wt=Ot.prox,Ge=js==null?cs<=Wt:cs>Wt||Ps!=js;if(ft||Ge){let Qe=oe[0];Qe!=null&&(ke[0]=Nt,kn[0]=Ft,op(Qe,ne,we,Se),sp(Qe,pe,Zt),Zi(Qe,_i(Nt),_i(Ft),F,Rt))}}}if(Ve.show&&Cs)if(_!=null){let[dt,yt]=cn.scales,[Dt,Nt]=cn.match,[Ft,ne]=_.cursor.sync.scales,we=_.cursor.drag;if(vn=we._x,yn=we._y,vn||yn){let{left:Se,top:pe,width:Zt,height:Wt}=_.select,Ge=_.scales[Ft].ori,Qe=_.posToVal,Mn,Ne,tn,ti,Vn,pi=dt!=null&&Dt(dt,Ft),Ei=yt!=null&&Nt(yt,ne);pi&&vn?(Ge==0?(Mn=Se,Ne=Zt):(Mn=pe,Ne=Wt),tn=M[dt],ti=H(Qe(Mn,Ft),tn,J,0),Vn=H(Qe(Mn+Ne,Ft),tn,J,0),Do(Pi(ti,Vn),mn(Vn-ti))):Do(0,J),Ei&&yn?(Ge==1?(Mn=Se,Ne=Zt):(Mn=pe,Ne=Wt),tn=M[yt],ti=L(Qe(Mn,ne),tn,ot,0),Vn=L(Qe(Mn+Ne,ne),tn,ot,0),No(Pi(ti,Vn),mn(Vn-ti))):No(0,ot)}else jh()}else{let dt=mn(Tf-Af),yt=mn(Cf-Ef);if(D.ori==1){let ne=dt;dt=yt,yt=ne}vn=En.x&&dt>=En.dist,yn=En.y&&yt>=En.dist;let Dt=En.uni;Dt!=null?vn&&yn&&(vn=dt>=Dt,yn=yt>=Dt,!vn&&!yn&&(yt>dt?yn=!0:vn=!0)):En.x&&En.y&&(vn||yn)&&(vn=yn=!0);let Nt,Ft;vn&&(D.ori==0?(Nt=Cr,Ft=ze):(Nt=Rr,Ft=Ze),Do(Pi(Nt,Ft),mn(Ft-Nt)),yn||No(0,ot)),yn&&(D.ori==1?(Nt=Cr,Ft=ze):(Nt=Rr,Ft=Ze),No(Pi(Nt,Ft),mn(Ft-Nt)),vn||Do(0,J)),!vn&&!yn&&(Do(0,0),No(0,0))}if(En._x=vn,En._y=yn,_==null){if(R){if(Vf!=null){let[dt,yt]=cn.scales;cn.values[0]=dt!=null?Wi(D.ori==0?ze:Ze,dt):null,cn.values[1]=yt!=null?Wi(D.ori==1?ze:Ze,yt):null}Fo(au,n,ze,Ze,F,Rt,I)}if($t){let dt=R&&cn.setSeries,yt=Ot.prox;js==null?cs<=yt&&Hi(Ps,Ir,!0,dt):cs>yt?Hi(null,Ir,!0,dt):Ps!=js&&Hi(Ps,Ir,!0,dt)}}ft&&(ut.idx=I,Jh()),b!==!1&&Sn("setCursor")}let Is=null;Object.defineProperty(n,"rect",{get(){return Is==null&&Uo(!1),Is}});function Uo(_=!1){_?Is=null:(Is=g.getBoundingClientRect(),Sn("syncRect",Is))}function If(_,b,R,I,V,J,ot){ht._lock||Cs&&_!=null&&_.movementX==0&&_.movementY==0||($h(_,b,R,I,V,J,ot,!1,_!=null),_!=null?Qs(null,!0,!0):Qs(b,!0,!1))}function $h(_,b,R,I,V,J,ot,dt,yt){if(Is==null&&Uo(!1),Jt(_),_!=null)R=_.clientX-Is.left,I=_.clientY-Is.top;else{if(R<0||I<0){ze=-10,Ze=-10;return}let[Dt,Nt]=cn.scales,Ft=b.cursor.sync,[ne,we]=Ft.values,[Se,pe]=Ft.scales,[Zt,Wt]=cn.match,Ge=b.axes[0].side%2==1,Qe=D.ori==0?F:Rt,Mn=D.ori==1?F:Rt,Ne=Ge?J:V,tn=Ge?V:J,ti=Ge?I:R,Vn=Ge?R:I;if(Se!=null?R=Zt(Dt,Se)?a(ne,M[Dt],Qe,0):-10:R=Qe*(ti/Ne),pe!=null?I=Wt(Nt,pe)?a(we,M[Nt],Mn,0):-10:I=Mn*(Vn/tn),D.ori==1){let pi=R;R=I,I=pi}}yt&&(b==null||b.cursor.event.type==au)&&((R<=1||R>=F-1)&&(R=ir(R,F)),(I<=1||I>=Rt-1)&&(I=ir(I,Rt))),dt?(Af=R,Ef=I,[Cr,Rr]=ht.move(n,R,I)):(ze=R,Ze=I)}let Kh={width:0,height:0,left:0,top:0};function jh(){nl(Kh,!1)}let Lf,Df,Nf,Uf;function Ff(_,b,R,I,V,J,ot){Cs=!0,vn=yn=En._x=En._y=!1,$h(_,b,R,I,V,J,ot,!0,!1),_!=null&&(ve(lu,fu,Of,!1),Fo(Kf,n,Cr,Rr,F,Rt,null));let{left:dt,top:yt,width:Dt,height:Nt}=Ve;Lf=dt,Df=yt,Nf=Dt,Uf=Nt}function Of(_,b,R,I,V,J,ot){Cs=En._x=En._y=!1,$h(_,b,R,I,V,J,ot,!1,!0);let{left:dt,top:yt,width:Dt,height:Nt}=Ve,Ft=Dt>0||Nt>0,ne=Lf!=dt||Df!=yt||Nf!=Dt||Uf!=Nt;if(Ft&&ne&&nl(Ve),En.setScale&&Ft&&ne){let we=dt,Se=Dt,pe=yt,Zt=Nt;if(D.ori==1&&(we=yt,Se=Nt,pe=dt,Zt=Dt),vn&&Rs(E,Wi(we,E),Wi(we+Se,E)),yn)for(let Wt in M){let Ge=M[Wt];Wt!=E&&Ge.from==null&&Ge.min!=Fe&&Rs(Wt,Wi(pe+Zt,Wt),Wi(pe,Wt))}jh()}else ht.lock&&(ht._lock=!ht._lock,Qs(b,!0,_!=null));_!=null&&(dn(lu,fu),Fo(lu,n,ze,Ze,F,Rt,null))}function p_(_,b,R,I,V,J,ot){if(ht._lock)return;Jt(_);let dt=Cs;if(Cs){let yt=!0,Dt=!0,Nt=10,Ft,ne;D.ori==0?(Ft=vn,ne=yn):(Ft=yn,ne=vn),Ft&&ne&&(yt=ze<=Nt||ze>=F-Nt,Dt=Ze<=Nt||Ze>=Rt-Nt),Ft&&yt&&(ze=ze<Cr?0:F),ne&&Dt&&(Ze=Ze<Rr?0:Rt),Qs(null,!0,!0),Cs=!1}ze=-10,Ze=-10,it.fill(null),Qs(null,!0,!0),dt&&(Cs=dt)}function Bf(_,b,R,I,V,J,ot){ht._lock||(Jt(_),Lo(),jh(),_!=null&&Fo(tp,n,ze,Ze,F,Rt,null))}function kf(){T.forEach(xv),U(n.width,n.height,!0)}or(ll,Ur,kf);let Lr={};Lr.mousedown=Ff,Lr.mousemove=If,Lr.mouseup=Of,Lr.dblclick=Bf,Lr.setSeries=(_,b,R,I)=>{let V=cn.match[2];R=V(n,b,R),R!=-1&&Hi(R,I,!0,!1)},mt&&(ve(Kf,g,Ff),ve(au,g,If),ve(jf,g,_=>{Jt(_),Uo(!1)}),ve(Qf,g,p_),ve(tp,g,Bf),Su.add(n),n.syncRect=Uo);let il=n.hooks=i.hooks||{};function Sn(_,b,R){zn?Le.push([_,b,R]):_ in il&&il[_].forEach(I=>{I.call(null,n,b,R)})}(i.plugins||[]).forEach(_=>{for(let b in _.hooks)il[b]=(il[b]||[]).concat(_.hooks[b])});let zf=(_,b,R)=>R,cn=hn({key:null,setSeries:!1,filters:{pub:up,sub:up},scales:[E,v[1]?v[1].scale:null],match:[dp,dp,zf],values:[null,null]},ht.sync);cn.match.length==2&&cn.match.push(zf),ht.sync=cn;let Vf=cn.key,Qh=lm(Vf);function Fo(_,b,R,I,V,J,ot){cn.filters.pub(_,b,R,I,V,J,ot)&&Qh.pub(_,b,R,I,V,J,ot)}Qh.sub(n);function m_(_,b,R,I,V,J,ot){cn.filters.sub(_,b,R,I,V,J,ot)&&Lr[_](null,b,R,I,V,J,ot)}n.pub=m_;function g_(){Qh.unsub(n),Su.delete(n),xn.clear(),gu(ll,Ur,kf),c.remove(),Tt?.remove(),Sn("destroy")}n.destroy=g_;function tu(){Sn("init",i,t),Io(t||i.data,!1),W[E]?qh(E,W[E]):Lo(),nt=Ve.show&&(Ve.width>0||Ve.height>0),tt=ft=!0,U(i.width,i.height)}return v.forEach(Mr),T.forEach(rs),e?e instanceof HTMLElement?(e.appendChild(c),tu()):e(n,tu):tu(),n}bn.assign=hn;bn.fmtNum=Cu;bn.rangeNum=cl;bn.rangeLog=dl;bn.rangeAsinh=Eu;bn.orient=lr;bn.pxRatio=Ae;bn.join=cx;bn.fmtDate=Pu,bn.tzDate=yx;bn.sync=lm;{bn.addGap=nv,bn.clipGaps=ml;let i=bn.paths={points:pm};i.linear=gm,i.stepped=rv,i.bars=ov,i.spline=lv}var vv=i=>String(i).replace(/./g,t=>t==="-"?"⁻":"⁰¹²³⁴⁵⁶⁷⁸⁹"[+t]);function Sm(i,t){let[e,n]=Math.abs(i).toExponential(t).split("e"),s=`10${vv(Number(n))}`;return(i<0?"−":"")+(Number(e)===1&&t===0?s:`${e}×${s}`)}function ym(i){for(let t=Math.max(0,-Math.floor(Math.log10(i)+1e-9));t<20;t+=1)if(Math.abs(i*10**t-Math.round(i*10**t))<1e-6)return t;return 20}function Ou(i){let t=i.filter(a=>a!=null),e=Math.max(...t.map(Math.abs),0),n=t.length>1?Math.abs(t[1]-t[0]):e,s=10**Math.floor(Math.log10(n||1)+1e-9),r=ym((n||1)/s),o=e<.001||e>=1e5;return i.map(a=>{if(a==null)return null;if(Math.abs(a)<=1e-6*n)return"0";if(!o)return a.toFixed(Math.min(20,ym(n||1))).replace("-","−");let l=Math.floor(Math.log10(Math.abs(a))+1e-9);return Sm(a,Math.max(0,Math.min(8,l-Math.round(Math.log10(s))+r)))})}function xi(i,t=3){if(i==null||Number.isNaN(i))return"–";if(i===0)return"0";let e=Math.abs(i);if(e>=.001&&e<1e5){let n=Math.max(0,t-1-Math.floor(Math.log10(e)));return i.toFixed(n).replace("-","−")}return Sm(i,t-1)}function Mm(i,t){let e=t>0?Math.max(0,Math.min(9,3-Math.floor(Math.log10(t)))):3;return i.toFixed(e).replace(/^-/,"−")}var Bu=(i,t)=>t?`${i} [${t}]`:i;var ku='11px ui-sans-serif, system-ui, -apple-system, "Segoe UI", sans-serif',Hr=class{constructor(t,{title:e="",seek:n=null,tall:s=120}={}){this.place=t,this.seek=n,this.tall=s,this.log=!1,this.timeLabel="t",this.needed=this.width=0,this.element=pt("section","plot");let r=pt("header","plot-head");this.title=pt("h3","",e),this.remark=pt("span","plot-remark"),this.legend=pt("div","plot-legend"),r.append(this.title,this.remark,this.legend),this.canvas=pt("div","plot-canvas"),this.element.append(r,this.canvas),t.append(this.element),this.cursor=pt("div","plot-cursor"),this.observer=new ResizeObserver(()=>this.resize()),this.observer.observe(this.canvas)}setLines(t,e=this.log){this.lines=t,this.span=[Math.min(...t.map(({t:n})=>n[0])),Math.max(...t.map(({t:n})=>n[n.length-1]))],this.log=e,this.legend.replaceChildren(...t.map(n=>{let s=pt("span","plot-key"),r=pt("i");return n.value=pt("b"),n.label&&s.append(r,pt("span","",n.label)),s.append(n.value),n.mark=r,s})),this.chart?.destroy(),this.chart=new bn(this.options(),this.data(),this.canvas),this.chart.over.append(this.cursor),this.seek&&this.listen(this.chart.over),this.paint(),requestAnimationFrame(()=>this.resize())}data(){let t=this.lines.map(({t:n,y:s})=>[n,this.log?Array.from(s,r=>Math.abs(r)||null):s]);return t.every(([n])=>n===t[0][0])?[t[0][0],...t.map(([,n])=>n)]:bn.join(t)}options(){let t=n=>()=>getComputedStyle(this.element).getPropertyValue(n),e={stroke:t("--muted"),font:ku,grid:{stroke:t("--hair"),width:1},ticks:{show:!1},gap:6};return{width:Math.max(80,this.canvas.clientWidth),height:this.height(),legend:{show:!1},padding:[8,20,0,0],cursor:{show:!1,drag:{x:!1,y:!1}},scales:{x:{time:!1,range:(n,s,r)=>this.window??[s,r]},y:this.log?{distr:3,log:10}:{range:(n,s,r)=>yv(s,r)}},axes:[{...e,size:22,space:60,label:this.timeLabel,labelFont:ku,labelSize:15,labelGap:0,values:(n,s)=>Ou(s)},{...e,size:(n,s)=>Math.max(this.needed=Sv(s),this.width),space:16,splits:this.log?(n,s,r,o)=>bv(r,o):Mv,...this.log?{filter:(n,s)=>s}:{},values:(n,s)=>this.ticks=this.log?s.map(r=>xi(r,1)):Ou(s)}],series:[{},...this.lines.map(n=>({stroke:n.colour,width:1.4,dash:n.dash,spanGaps:!0,points:{show:!1}}))]}}listen(t){t.style.cursor="crosshair";let e=s=>this.seek(this.chart.posToVal(s.clientX-t.getBoundingClientRect().left,"x")),n=!1;t.addEventListener("pointerdown",s=>{n=!0,t.setPointerCapture(s.pointerId),e(s)}),t.addEventListener("pointermove",s=>n&&e(s));for(let s of["pointerup","pointercancel"])t.addEventListener(s,()=>n=!1)}show(t,e,n=null){let[s,r]=n??this.span;(n||this.window)&&(this.window=n,this.chart.setScale("x",{min:s,max:r})),this.cursor.style.transform=`translateX(${(t-s)/(r-s)*this.chart.over.clientWidth}px)`,this.lines.forEach(o=>o.value.textContent=xi(e(o,t)))}widen(t){t!==this.width&&(this.width=t,this.chart.redraw(!1,!0))}resize(){this.chart&&this.canvas.clientWidth&&this.chart.setSize({width:this.canvas.clientWidth,height:this.height()})}height(){return Math.max(this.tall,this.canvas.clientHeight)}paint(){this.lines.forEach(t=>t.mark.style.background=t.colour()),this.chart.redraw(!1)}remove(){this.observer.disconnect(),this.chart?.destroy(),this.element.remove()}};function yv(i,t){if(i==null)return[-1,1];let e=t>i?.08*(t-i):Math.abs(i)||1e-15;return[i-e,t+e]}var bm=document.createElement("canvas").getContext("2d");function Sv(i){return bm.font=ku,Math.max(62,...(i??[]).map(t=>Math.ceil(bm.measureText(t??"").width)+14))}function Mv(i,t,e,n,s){let r=(n-e)/4,o=10**Math.floor(Math.log10(r)),a=n-e>1e-14?s:o*[1,2,5,10].find(c=>c*o>=r),l=[];for(let c=Math.ceil(e/a-1e-9);c<=n/a+1e-9;c+=1)l.push(Number((c*a).toPrecision(12)));return l}function bv(i,t){let[e,n]=[Math.ceil(Math.log10(i)-1e-9),Math.floor(Math.log10(t)+1e-9)],s=Math.max(1,Math.ceil((n-e+1)/5)),r=[];for(let o=e;o<=n;o+=1)o%s===0&&r.push(10**o);return r}function pt(i,t="",e=""){let n=document.createElement(i);return t&&(n.className=t),e&&(n.textContent=e),n}var vl={light:["#0072B2","#D55E00","#009E73","#B8618F","#A67A00","#3E8FBF","#444444"],dark:["#56B4E9","#F0884A","#2EC4A0","#DE9BC1","#E6B84A","#9ACDF0","#C8C8C8"]},wv={light:{light:"#EAD9BC",side:"#F7F4EE",pivot:"#3A3D42",omega:"#C98A00",momentum:"#8C4A78",grid:"#C9C5BC",plane:"#EFEBE3",ink:"#1D2024",trace:"#1D2024",dark:"#4388B0",skin:"#A9C3D3"},dark:{light:"#D9C7A8",side:"#BDB9B1",pivot:"#E8E6E1",omega:"#F2B632",momentum:"#E08BC0",grid:"#464B54",plane:"#23272E",ink:"#0F1114",trace:"#F3F1EC",dark:"#4A93BF",skin:"#5E86A0"}},Ns=class{constructor(t){this.root=t,this.set(t.dataset.theme||(window.matchMedia("(prefers-color-scheme: dark)").matches?"dark":"light"))}set(t){this.name=t,this.root.dataset.theme=t}toggle(){this.set(this.name==="dark"?"light":"dark")}line(t){return vl[this.name][t%vl[this.name].length]}scene(){return{...wv[this.name],axes:vl[this.name].slice(0,3),lines:vl[this.name]}}};function wm(i,t,e,n,{tall:s=300}={}){let r=c=>typeof c=="string"?Oo(c):c,o=new Ns(document.documentElement),a=new Hr(i,{title:t,tall:s}),l=r(e);return a.canvas.style.minHeight=`${s}px`,a.setLines(n.map(({label:c,y:h},d)=>({label:c,t:l,y:r(h),colour:()=>o.line(d)}))),a.cursor.hidden=!0,document.addEventListener("polhode-theme",c=>{o.set(c.detail),a.paint()}),a}var Am={play:"M7 4.5v15l12.5-7.5z",pause:"M6.5 4.5h4v15h-4zM13.5 4.5h4v15h-4z"},Av=[["Space","play, pause"],["← →","one frame back or forward (with Shift: a twentieth of the run)"],["Home, End","start, end"],["− +","slower, faster"],["P","Poinsot’s construction, for a free body without rotors"],["A","arrows: angular velocity and momentum"],["R","path of the third body axis, or of the tip of a top; paths of the bodies of a system"],["B","body axes"],["F","follow a body in flight, or show its whole path; of a system, the next body"],["L","logarithmic error plots"],["Z","plots around the current time"],["S","save the picture"],["T","light or dark"],["?","this help"]];function $n(i,t,e,n=""){let s=pt("button",i,t);return s.type="button",n&&(s.title=n,s.setAttribute("aria-label",n)),s.addEventListener("click",e),s}var yl=class{constructor(t){this.element=pt("div","transport"),this.play=$n("play","",()=>t.toggle(),"Play or pause (Space)"),this.play.innerHTML='<svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true"><path fill="currentColor"/></svg>',this.slider=pt("input","slider"),Object.assign(this.slider,{type:"range",step:"any"}),this.slider.setAttribute("aria-label","Time"),this.slider.addEventListener("input",()=>t.seek(Number(this.slider.value))),this.time=pt("output","time"),this.speed=pt("span","speed-value");let e=pt("div","speed");e.append($n("","−",()=>t.speed(!1),"Slower (−)"),this.speed,$n("","+",()=>t.speed(!0),"Faster (+)")),this.element.append(this.play,this.slider,this.time,e)}show({time:t,start:e,end:n,playing:s,speed:r},o){this.play.querySelector("path").setAttribute("d",s?Am.pause:Am.play),this.play.classList.toggle("on",s),Object.assign(this.slider,{min:e,max:n}),this.slider.value=t,this.slider.style.setProperty("--done",`${n>e?100*(t-e)/(n-e):0}%`),this.time.textContent=`t = ${Mm(t,n-e)} ${o}`.trim(),this.speed.textContent=`${xi(r,1)}×`}},Em="Drawn for at most 12 bodies",Sl=class{constructor(t,e){this.element=pt("div","switches"),this.titles={},this.buttons=Object.fromEntries(Object.entries(t).map(([n,[s,r]])=>{this.titles[n]=r;let o=$n(`switch switch-${n}`,s,()=>e(n),r);return this.element.append(o),[n,o]}))}show(t,e={}){for(let[n,s]of Object.entries(this.buttons))s.setAttribute("aria-pressed",String(!!t[n])),s.disabled=n in e,s.title=e[n]??this.titles[n]}};function zu({bodies:i=0,box:t,all:e},n){let s=i>0&&!e.omega;return{...n?{}:{poinsot:"Poinsot’s construction needs a free body without rotors that turns"},...s?{arrows:Em,axes:Em}:{},...i>0&&t?{trace:"Paths are not drawn in a periodic box"}:{}}}function Tm(){let i=pt("dialog","help"),t=pt("dl");for(let[e,n]of Av)t.append(pt("dt","",e),pt("dd","",n));return i.append(pt("h2","","Keys"),t,pt("p","","Drag to rotate the view; use the wheel or two fingers to zoom; double-click to reset. Click or drag in a plot to move in time."),$n("close","Close",()=>i.close())),i.addEventListener("click",e=>e.target===i&&i.close()),i}function Cm(i){let t={" ":()=>i.toggle(),ArrowLeft:n=>i.step(-1,n.shiftKey),ArrowRight:n=>i.step(1,n.shiftKey),Home:()=>i.seek(-1/0),End:()=>i.seek(1/0),"-":()=>i.speed(!1),"+":()=>i.speed(!0),"=":()=>i.speed(!0),p:()=>i.switch("poinsot"),a:()=>i.switch("arrows"),r:()=>i.switch("trace"),b:()=>i.switch("axes"),f:()=>i.switch("follow"),l:()=>i.log(),z:()=>i.zoom(),s:()=>i.save(),t:()=>i.toggleTheme(),"?":()=>i.help()},e=n=>{let s=n.target.closest?.("input:not([type=range]), textarea, select, [contenteditable]"),r=t[n.key.length===1?n.key.toLowerCase():n.key];!r||s||n.ctrlKey||n.metaKey||n.altKey||n.key===" "&&n.target.closest?.("button:not(.play), summary")||(n.preventDefault(),r(n))};return document.addEventListener("keydown",e),()=>document.removeEventListener("keydown",e)}var Yo={box:{label:"Box of 1 kg",names:["edge a","edge b","edge c"],unit:"m",factor:12},ellipsoid:{label:"Ellipsoid of 1 kg",names:["semi-axis a","semi-axis b","semi-axis c"],unit:"m",factor:5},moments:{label:"Moments of inertia",names:["J₁","J₂","J₃"],unit:"kg m²"}},Wr=(i,t=4)=>Number(i.toPrecision(t)),Ml=class{constructor(t,e){this.catalogue=t,this.changed=e,this.complaints={},this.element=pt("form","play-form"),this.element.addEventListener("submit",n=>n.preventDefault()),this.build(),this.method.value=t.first,this.begin(t.problems[0])}build(){let{problems:t,methods:e}=this.catalogue;this.problem=Im(t.map(({name:r,group:o,title:a,obstacle:l})=>({name:r,group:o,label:Pm(a),obstacle:l}))),this.problem.addEventListener("change",()=>{this.begin(this.chosen()),this.changed(!0)}),this.source=pt("p","play-fact"),this.first=new bl(this.changed),this.second=new bl(this.changed),this.beside=Lm("a second body beside the first",()=>{this.second.copy(this.first),this.show(),this.changed(!0)}),this.wheel=new Ji("Wheel","rad/s",this.changed),this.weight=new Ji("Weight × arm","N m",this.changed),this.damping=new Ji("Damping","N m s",this.changed),this.method=new wl(e,!1,this.changed),this.compare=new wl(e,!0,this.changed),this.step=new Ji("Step","s",this.changed,!0),this.span=new Ji("Span","s",this.changed);let{first:n,second:s}=this;this.element.append(this.field("problem","Problem",this.problem,this.source),this.field("body","Body",...n.shape),this.field("omega0","Angular velocity at the start, body axes",...n.spin.map(r=>r.element)),this.field("tilt","",n.tilt.element),this.wheelPlace=this.field("wheel","",this.wheel.element),this.field("second","",this.beside.element,this.secondPlace=pt("div","play-second")),this.field("weight","",this.weight.element),this.field("damping","",this.damping.element),this.field("method","Method",...this.method.elements),this.field("compare","Compare with",...this.compare.elements),this.field("step","",this.step.element),this.field("span","",this.span.element)),this.secondPlace.append(...s.shape,...s.spin.map(r=>r.element),s.tilt.element),s.kind.setAttribute("aria-label","Second body")}field(t,e,...n){let s=pt("fieldset","play-field");s.dataset.field=t;let r=this.complaints[t]=pt("p","play-complaint");r.setAttribute("role","alert");for(let o of n)(o.matches("select")?o:o.querySelector?.("select"))?.setAttribute("aria-label",e);return e&&s.append(pt("legend","",e)),s.append(...n,r),s}chosen(){return this.catalogue.problems.find(({name:t})=>t===this.problem.value)??this.catalogue.problems[0]}begin(t){this.problem.value=t.name;let{source:e,assumptions:n}=t;this.source.textContent=[e,n].filter(Boolean).join(". ")+".",this.first.begin(t),this.beside.box.checked=!1;let s=Math.max(...t.moments)*Math.max(1,...t.omega0.map(o=>o*o)),r=2*Math.max(Math.abs(t.wheel??0),50);this.wheel.set(t.wheel??0,-r,r),this.weight.set(t.weight,0,3*(t.weight||s)),this.damping.set(0,0,Math.max(...t.moments)),this.step.set(t.step,t.step/50,Math.min(t.span,20*t.step)),this.span.set(t.span,0,3*t.span),this.show()}show(){this.secondPlace.hidden=!this.beside.box.checked,this.wheelPlace.hidden=this.chosen().wheel===null}values(){return{problem:this.problem.value,...this.first.values(),second:this.beside.box.checked?this.second.values():null,wheel:this.wheel.value,weight:this.weight.value,damping:this.damping.value,method:this.method.value,compare:this.compare.value,step:this.step.value,span:this.span.value}}address(){let{problem:t,second:e,method:n,compare:s,...r}=this.values(),o={problem:t,...Rm(r),method:n};if(s&&(o.compare=s),e)for(let[a,l]of Object.entries(Rm(e)))o[`${a}2`]=l;for(let a of this.numbers())o[a]=r[a]??"";return new URLSearchParams(o).toString().replaceAll("%2C",",").replaceAll("%2F","/")}numbers(){return[...this.wheelPlace.hidden?[]:["wheel"],"weight","damping","step","span"]}read(t){let e=new URLSearchParams(t);if(!e.has("problem"))return;let n=e.get("problem");this.problem.value=n,this.begin(this.chosen()),this.problem.value!==n&&(this.source.textContent=`There is no problem ${n}; the first in the list is shown.`),this.first.read(e,""),this.beside.box.checked=e.has("body2"),this.second.copy(this.first),this.second.read(e,"2");for(let s of this.numbers())e.has(s)&&this[s].type(e.get(s));e.has("method")&&(this.method.value=e.get("method")),this.compare.value=e.get("compare"),this.show()}names(){let{title:t,torque:e}=this.chosen(),n=[this.method.value,this.compare.value].filter(Boolean),[s,r]=[this.weight.value,this.damping.value],o=this.wheelPlace.hidden?"":`wheel at ${Wr(this.wheel.value??0)} rad/s`,a=[e,o,s&&`weight ${Wr(s)} N m`,r&&`damping ${Wr(r)} N m s`].filter(Boolean);return{title:Pm(t),subtitle:`${n.join(" and ")}; step ${this.step.value} s; ${a.join(", ")||"no torque"}`}}complain(t){for(let[e,n]of Object.entries(this.complaints))n.textContent=t[e]??"",n.parentElement.classList.toggle("wrong",e in t)}},bl=class{constructor(t){this.changed=t,this.kind=Ev(Object.entries(Yo).map(([e,{label:n}])=>[e,n])),this.kind.addEventListener("change",()=>this.reshape()),this.sides=[0,1,2].map(()=>new Ji("","",t)),this.unphysical=Lm("even if no body has them (check_triangle=False)",()=>t()),this.spin=[0,1,2].map(e=>new Ji(`Ω${"₁₂₃"[e]}`,"rad/s",t)),this.tilt=new Ji("Tilt","°",t),this.shape=[this.kind,...this.sides.map(e=>e.element),this.unphysical.element]}begin({body:t,omega0:e,tilt:n}){this.kind.value=t.kind,this.unphysical.box.checked=t.unphysical,this.label(t.values);let s=Math.max(...e.map(Math.abs),1);this.spin.forEach((r,o)=>r.set(e[o],-1.5*s,1.5*s)),this.tilt.set(n,0,180)}copy(t){let{body:e,omega0:n,tilt:s}=t.values();this.begin({body:{...e,values:e.values.map(r=>r??1)},omega0:n.map(r=>r??0),tilt:s??0})}reshape(){let t=this.sides.map(h=>h.value??1),[e,n]=[Yo[this.shown],Yo[this.kind.value]],[s,r,o]=t.map(h=>h*h),a=e.factor?[r+o,o+s,s+r].map(h=>h/e.factor):t,l=(a[0]+a[1]+a[2])/2,c=a.map(h=>Math.sqrt((n.factor??0)*Math.max(l-h,.001*l)));this.label((n.factor?c:a).map(h=>Wr(h))),this.changed()}label(t){let{names:e,unit:n}=Yo[this.kind.value],s=2*Math.max(...t);this.shown=this.kind.value,this.unphysical.element.hidden=this.shown!=="moments",this.sides.forEach((r,o)=>{r.name(e[o],n),r.set(t[o],s/400,s)})}values(){return{body:{kind:this.kind.value,values:this.sides.map(t=>t.value),unphysical:this.unphysical.box.checked},omega0:this.spin.map(t=>t.value),tilt:this.tilt.value}}read(t,e){let n=a=>t.get(a+e)?.split(",")??null,[s,r,o]=[n("body"),n("omega0"),t.get(`tilt${e}`)];s&&s[0]in Yo&&(this.kind.value=s[0],this.unphysical.box.checked=s[4]==="unphysical",this.label([1,2,3].map(a=>Math.abs(Number(s[a]))||1)),this.sides.forEach((a,l)=>a.type(s[l+1]??""))),r&&this.spin.forEach((a,l)=>a.type(r[l]??"")),o!==null&&this.tilt.type(o)}};function Rm({body:i,omega0:t,tilt:e}){let{kind:n,values:s,unphysical:r}=i;return{body:[n,...s.map(o=>o??""),...r?["unphysical"]:[]].join(),omega0:t.map(o=>o??"").join(),tilt:String(e??"")}}var Ji=class{constructor(t,e,n,s=!1){this.logarithmic=s,this.element=pt("div","play-slider"),this.label=pt("span","play-name"),this.bar=Object.assign(pt("input"),{type:"range",min:0,max:1e3,step:1}),this.box=Object.assign(pt("input"),{type:"number",step:"any"}),this.unit=pt("span","play-unit"),this.element.append(this.label,this.bar,this.box,this.unit),this.name(t,e),this.bar.addEventListener("input",()=>{this.box.value=Wr(this.at(this.bar.value/1e3),3),n()}),this.box.addEventListener("input",()=>{this.move(),n()})}name(t,e){this.label.textContent=t,this.unit.textContent=e,this.bar.setAttribute("aria-label",`${t}, slider`),this.box.setAttribute("aria-label",`${t} in ${e}`)}set(t,e,n){[this.low,this.high]=[e,n],this.box.value=Wr(t,6),this.given={value:t,text:this.box.value},this.move()}type(t){this.box.value=t,this.move()}get value(){return this.box.value===this.given.text?this.given.value:Number.isFinite(this.box.valueAsNumber)?this.box.valueAsNumber:null}at(t){return this.logarithmic?this.low*(this.high/this.low)**t:this.low+t*(this.high-this.low)}move(){let{low:t,high:e,value:n}=this;n===null||this.logarithmic&&n<=0||(this.bar.value=1e3*(this.logarithmic?Math.log(n/t)/Math.log(e/t):(n-t)/(e-t)))}},wl=class{constructor(t,e,n){this.facts=Object.fromEntries(t.map(({name:s,fact:r})=>[s,r])),this.list=Im(t.map(({name:s,group:r,obstacle:o})=>({name:s,group:r,label:s,obstacle:o}))),e&&this.list.prepend(new Option("nothing","",!0,!0)),this.fact=pt("p","play-fact"),this.elements=[this.list,this.fact],this.list.addEventListener("change",()=>{this.tell(),n()})}get value(){return this.list.value||null}set value(t){this.list.value=t??"",this.tell()}tell(){this.fact.textContent=this.facts[this.list.value]??""}};function Ev(i){let t=pt("select");return t.append(...i.map(([e,n])=>new Option(n,e))),t}function Im(i){let t=pt("select");for(let e of new Set(i.map(n=>n.group))){let n=Object.assign(pt("optgroup"),{label:e});for(let s of i){if(s.group!==e)continue;let r=new Option(s.label,s.name);s.obstacle&&Object.assign(r,{disabled:!0,text:`${s.label} (polhode play alone)`,title:s.obstacle}),n.append(r)}t.append(n)}return t}function Lm(i,t){let e=pt("label","play-tick"),n=Object.assign(pt("input"),{type:"checkbox"});return n.addEventListener("change",t),e.append(n,i),{element:e,box:n}}var Pm=i=>`${i[0].toUpperCase()}${i.slice(1)}`;var Al=class{constructor(t){this.changed=t,this.time=this.start=this.end=0,this.speed=1,this.playing=!1,this.before=null}span(t,e){[this.start,this.end]=[t,e],this.seek(this.time)}seek(t){this.time=Math.min(this.end,Math.max(this.start,t)),this.changed()}play(t=!0){this.playing=t&&this.end>this.start,this.before=null,this.playing&&this.time>=this.end&&(this.time=this.start),this.changed()}tick(t){if(!this.playing)return;let e=this.before===null?0:Math.min(.1,(t-this.before)/1e3);this.before=t;let n=this.time+e*this.speed;this.time=n>=this.end?this.time>=this.end?this.start:this.end:n}},Tv=[1,2,5];function El(i,t){let e=[];for(let s=-6;s<=6;s+=1)for(let r of Tv)e.push(r*10**s);return(t?e.find(s=>s>i*1.01):e.findLast(s=>s<i*.99))??i}function Dm(i,t){let e=Math.min(i/25,t>0?9/t:1/0);return El(El(e,!0),!1)||1}var pg=0,gd=1,mg=2;var Fa=1,gg=2,_o=3,Ys=0,Zn=1,Mi=2,mr=0,xo=1,_d=2,xd=3,vd=4,_g=5;var gr=100,xg=101,vg=102,yg=103,Sg=104,Mg=200,bg=201,wg=202,Ag=203,yd=204,Sd=205,Eg=206,Tg=207,Cg=208,Rg=209,Pg=210,Ig=211,Lg=212,Dg=213,Ng=214,Ql=0,tc=1,ec=2,lo=3,nc=4,ic=5,sc=6,rc=7,Md=0,Ug=1,Fg=2,Qi=0,bd=1,wd=2,Ad=3,Ed=4,Td=5,Cd=6,Rd=7;var Pd=300,_r=301,vo=302,Lc=303,Dc=304,oc=1e3,Ki=1001,ac=1002,An=1003,Og=1004;var Oa=1005;var Yn=1006,Nc=1007;var Ms=1008;var jn=1009,Id=1010,Ld=1011,yo=1012,Uc=1013,Oi=1014,bi=1015,Bi=1016,Fc=1017,Oc=1018,xr=1020,Dd=35902,Nd=35899,Ud=1021,Fd=1022,ki=1023,xs=1026,bs=1027,Bc=1028,kc=1029,Zs=1030,zc=1031;var Vc=1033,Ba=33776,ka=33777,za=33778,Va=33779,Gc=35840,Hc=35841,Wc=35842,Xc=35843,qc=36196,Yc=37492,Zc=37496,Jc=37488,$c=37489,Ga=37490,Kc=37491,jc=37808,Qc=37809,th=37810,eh=37811,nh=37812,ih=37813,sh=37814,rh=37815,oh=37816,ah=37817,lh=37818,ch=37819,hh=37820,uh=37821,dh=36492,fh=36494,ph=36495,mh=36283,gh=36284,Ha=36285,_h=36286;var sa=2300,lc=2301,Kl=2302,cd=2303,hd=2400,ud=2401,dd=2402;var Bg=3200;var xh=0,kg=1,ws="",li="srgb",ra="srgb-linear",oa="linear",Te="srgb";var jl=7680;var zg=519,Vg=512,Gg=513,Hg=514,Od=515,Wg=516,Xg=517,Bd=518,kd=519,zd=35044;var Vd="300 es",yi=2e3,co=2001;function Cv(i){for(let t=i.length-1;t>=0;--t)if(i[t]>=65535)return!0;return!1}function Rv(i){return ArrayBuffer.isView(i)&&!(i instanceof DataView)}function aa(i){return document.createElementNS("http://www.w3.org/1999/xhtml",i)}function qg(){let i=aa("canvas");return i.style.display="block",i}var Nm={},ho=null;function la(...i){let t="THREE."+i.shift();ho?ho("log",t,...i):console.log(t,...i)}function Yg(i){let t=i[0];if(typeof t=="string"&&t.startsWith("TSL:")){let e=i[1];e&&e.isStackTrace?i[0]+=" "+e.getLocation():i[1]='Stack trace not available. Enable "THREE.Node.captureStackTrace" to capture stack traces.'}return i}function qt(...i){i=Yg(i);let t="THREE."+i.shift();if(ho)ho("warn",t,...i);else{let e=i[0];e&&e.isStackTrace?console.warn(e.getError(t)):console.warn(t,...i)}}function Qt(...i){i=Yg(i);let t="THREE."+i.shift();if(ho)ho("error",t,...i);else{let e=i[0];e&&e.isStackTrace?console.error(e.getError(t)):console.error(t,...i)}}function ea(...i){let t=i.join(" ");t in Nm||(Nm[t]=!0,qt(...i))}function Zg(i,t,e){return new Promise(function(n,s){function r(){switch(i.clientWaitSync(t,i.SYNC_FLUSH_COMMANDS_BIT,0)){case i.WAIT_FAILED:s();break;case i.TIMEOUT_EXPIRED:setTimeout(r,e);break;default:n()}}setTimeout(r,e)})}var Jg={[Ql]:Ql,[ec]:sc,[nc]:nc,[lo]:ic,[tc]:tc,[sc]:ec,[rc]:rc,[ic]:lo},ji=class{addEventListener(t,e){this._listeners===void 0&&(this._listeners={});let n=this._listeners;n[t]===void 0&&(n[t]=[]),n[t].indexOf(e)===-1&&n[t].push(e)}hasEventListener(t,e){let n=this._listeners;return n===void 0?!1:n[t]!==void 0&&n[t].indexOf(e)!==-1}removeEventListener(t,e){let n=this._listeners;if(n===void 0)return;let s=n[t];if(s!==void 0){let r=s.indexOf(e);r!==-1&&s.splice(r,1)}}dispatchEvent(t){let e=this._listeners;if(e===void 0)return;let n=e[t.type];if(n!==void 0){t.target=this;let s=n.slice(0);for(let r=0,o=s.length;r<o;r++)s[r].call(this,t);t.target=null}}},Nn=["00","01","02","03","04","05","06","07","08","09","0a","0b","0c","0d","0e","0f","10","11","12","13","14","15","16","17","18","19","1a","1b","1c","1d","1e","1f","20","21","22","23","24","25","26","27","28","29","2a","2b","2c","2d","2e","2f","30","31","32","33","34","35","36","37","38","39","3a","3b","3c","3d","3e","3f","40","41","42","43","44","45","46","47","48","49","4a","4b","4c","4d","4e","4f","50","51","52","53","54","55","56","57","58","59","5a","5b","5c","5d","5e","5f","60","61","62","63","64","65","66","67","68","69","6a","6b","6c","6d","6e","6f","70","71","72","73","74","75","76","77","78","79","7a","7b","7c","7d","7e","7f","80","81","82","83","84","85","86","87","88","89","8a","8b","8c","8d","8e","8f","90","91","92","93","94","95","96","97","98","99","9a","9b","9c","9d","9e","9f","a0","a1","a2","a3","a4","a5","a6","a7","a8","a9","aa","ab","ac","ad","ae","af","b0","b1","b2","b3","b4","b5","b6","b7","b8","b9","ba","bb","bc","bd","be","bf","c0","c1","c2","c3","c4","c5","c6","c7","c8","c9","ca","cb","cc","cd","ce","cf","d0","d1","d2","d3","d4","d5","d6","d7","d8","d9","da","db","dc","dd","de","df","e0","e1","e2","e3","e4","e5","e6","e7","e8","e9","ea","eb","ec","ed","ee","ef","f0","f1","f2","f3","f4","f5","f6","f7","f8","f9","fa","fb","fc","fd","fe","ff"],Um=1234567,na=Math.PI/180,uo=180/Math.PI;function Js(){let i=Math.random()*4294967295|0,t=Math.random()*4294967295|0,e=Math.random()*4294967295|0,n=Math.random()*4294967295|0;return(Nn[i&255]+Nn[i>>8&255]+Nn[i>>16&255]+Nn[i>>24&255]+"-"+Nn[t&255]+Nn[t>>8&255]+"-"+Nn[t>>16&15|64]+Nn[t>>24&255]+"-"+Nn[e&63|128]+Nn[e>>8&255]+"-"+Nn[e>>16&255]+Nn[e>>24&255]+Nn[n&255]+Nn[n>>8&255]+Nn[n>>16&255]+Nn[n>>24&255]).toLowerCase()}function ie(i,t,e){return Math.max(t,Math.min(e,i))}function Gd(i,t){return(i%t+t)%t}function Pv(i,t,e,n,s){return n+(i-t)*(s-n)/(e-t)}function Iv(i,t,e){return i!==t?(e-i)/(t-i):0}function ia(i,t,e){return(1-e)*i+e*t}function Lv(i,t,e,n){return ia(i,t,1-Math.exp(-e*n))}function Dv(i,t=1){return t-Math.abs(Gd(i,t*2)-t)}function Nv(i,t,e){return i<=t?0:i>=e?1:(i=(i-t)/(e-t),i*i*(3-2*i))}function Uv(i,t,e){return i<=t?0:i>=e?1:(i=(i-t)/(e-t),i*i*i*(i*(i*6-15)+10))}function Fv(i,t){return i+Math.floor(Math.random()*(t-i+1))}function Ov(i,t){return i+Math.random()*(t-i)}function Bv(i){return i*(.5-Math.random())}function kv(i){i!==void 0&&(Um=i);let t=Um+=1831565813;return t=Math.imul(t^t>>>15,t|1),t^=t+Math.imul(t^t>>>7,t|61),((t^t>>>14)>>>0)/4294967296}function zv(i){return i*na}function Vv(i){return i*uo}function Gv(i){return i>0&&Number.isInteger(i)&&2**Math.round(Math.log2(i))===i}function Hv(i){return Math.pow(2,Math.ceil(Math.log(i)/Math.LN2))}function Hd(i){return Math.pow(2,Math.floor(Math.log(i)/Math.LN2))}function Wv(i,t,e,n,s){let r=Math.cos,o=Math.sin,a=r(e/2),l=o(e/2),c=r((t+n)/2),h=o((t+n)/2),d=r((t-n)/2),u=o((t-n)/2),f=r((n-t)/2),g=o((n-t)/2);switch(s){case"XYX":i.set(a*h,l*d,l*u,a*c);break;case"YZY":i.set(l*u,a*h,l*d,a*c);break;case"ZXZ":i.set(l*d,l*u,a*h,a*c);break;case"XZX":i.set(a*h,l*g,l*f,a*c);break;case"YXY":i.set(l*f,a*h,l*g,a*c);break;case"ZYZ":i.set(l*g,l*f,a*h,a*c);break;default:qt("MathUtils: .setQuaternionFromProperEuler() encountered an unknown order: "+s)}}function vh(i){switch(i.constructor){case Uint32Array:return 4294967295;case Uint16Array:return 65535;case Uint8Array:case Uint8ClampedArray:return 255;case Int32Array:return 2147483647;case Int16Array:return 32767;case Int8Array:return 127;default:return}}function Wd(i,t){if(t.constructor===Float32Array)return i;let e=vh(t);if(e===void 0)throw new Error("THREE.MathUtils: Invalid component type.");return Math.max(i/e,-1)}function Xd(i,t){if(t.constructor===Float32Array)return i;let e=vh(t);if(e===void 0)throw new Error("THREE.MathUtils: Invalid component type.");return Math.round(i*e)}var qd={DEG2RAD:na,RAD2DEG:uo,generateUUID:Js,clamp:ie,euclideanModulo:Gd,mapLinear:Pv,inverseLerp:Iv,lerp:ia,damp:Lv,pingpong:Dv,smoothstep:Nv,smootherstep:Uv,randInt:Fv,randFloat:Ov,randFloatSpread:Bv,seededRandom:kv,degToRad:zv,radToDeg:Vv,isPowerOfTwo:Gv,ceilPowerOfTwo:Hv,floorPowerOfTwo:Hd,setQuaternionFromProperEuler:Wv,normalize:Xd,denormalize:Wd},Kt=class{static{this.prototype.isVector2=!0}constructor(t=0,e=0){this.x=t,this.y=e}get width(){return this.x}set width(t){this.x=t}get height(){return this.y}set height(t){this.y=t}set(t,e){return this.x=t,this.y=e,this}setScalar(t){return this.x=t,this.y=t,this}setX(t){return this.x=t,this}setY(t){return this.y=t,this}setComponent(t,e){switch(t){case 0:this.x=e;break;case 1:this.y=e;break;default:throw new Error("THREE.Vector2: index is out of range: "+t)}return this}getComponent(t){switch(t){case 0:return this.x;case 1:return this.y;default:throw new Error("THREE.Vector2: index is out of range: "+t)}}clone(){return new this.constructor(this.x,this.y)}copy(t){return this.x=t.x,this.y=t.y,this}add(t){return this.x+=t.x,this.y+=t.y,this}addScalar(t){return this.x+=t,this.y+=t,this}addVectors(t,e){return this.x=t.x+e.x,this.y=t.y+e.y,this}addScaledVector(t,e){return this.x+=t.x*e,this.y+=t.y*e,this}sub(t){return this.x-=t.x,this.y-=t.y,this}subScalar(t){return this.x-=t,this.y-=t,this}subVectors(t,e){return this.x=t.x-e.x,this.y=t.y-e.y,this}multiply(t){return this.x*=t.x,this.y*=t.y,this}multiplyScalar(t){return this.x*=t,this.y*=t,this}divide(t){return this.x/=t.x,this.y/=t.y,this}divideScalar(t){return this.multiplyScalar(1/t)}applyMatrix3(t){let e=this.x,n=this.y,s=t.elements;return this.x=s[0]*e+s[3]*n+s[6],this.y=s[1]*e+s[4]*n+s[7],this}min(t){return this.x=Math.min(this.x,t.x),this.y=Math.min(this.y,t.y),this}max(t){return this.x=Math.max(this.x,t.x),this.y=Math.max(this.y,t.y),this}clamp(t,e){return this.x=ie(this.x,t.x,e.x),this.y=ie(this.y,t.y,e.y),this}clampScalar(t,e){return this.x=ie(this.x,t,e),this.y=ie(this.y,t,e),this}clampLength(t,e){let n=this.length();return this.divideScalar(n||1).multiplyScalar(ie(n,t,e))}floor(){return this.x=Math.floor(this.x),this.y=Math.floor(this.y),this}ceil(){return this.x=Math.ceil(this.x),this.y=Math.ceil(this.y),this}round(){return this.x=Math.round(this.x),this.y=Math.round(this.y),this}roundToZero(){return this.x=Math.trunc(this.x),this.y=Math.trunc(this.y),this}negate(){return this.x=-this.x,this.y=-this.y,this}dot(t){return this.x*t.x+this.y*t.y}cross(t){return this.x*t.y-this.y*t.x}lengthSq(){return this.x*this.x+this.y*this.y}length(){return Math.sqrt(this.x*this.x+this.y*this.y)}manhattanLength(){return Math.abs(this.x)+Math.abs(this.y)}normalize(){return this.divideScalar(this.length()||1)}angle(){return Math.atan2(-this.y,-this.x)+Math.PI}angleTo(t){let e=Math.sqrt(this.lengthSq()*t.lengthSq());if(e===0)return Math.PI/2;let n=this.dot(t)/e;return Math.acos(ie(n,-1,1))}distanceTo(t){return Math.sqrt(this.distanceToSquared(t))}distanceToSquared(t){let e=this.x-t.x,n=this.y-t.y;return e*e+n*n}manhattanDistanceTo(t){return Math.abs(this.x-t.x)+Math.abs(this.y-t.y)}setLength(t){return this.normalize().multiplyScalar(t)}lerp(t,e){return this.x+=(t.x-this.x)*e,this.y+=(t.y-this.y)*e,this}lerpVectors(t,e,n){return this.x=t.x+(e.x-t.x)*n,this.y=t.y+(e.y-t.y)*n,this}equals(t){return t.x===this.x&&t.y===this.y}fromArray(t,e=0){return this.x=t[e],this.y=t[e+1],this}toArray(t=[],e=0){return t[e]=this.x,t[e+1]=this.y,t}fromBufferAttribute(t,e){return this.x=t.getX(e),this.y=t.getY(e),this}rotateAround(t,e){let n=Math.cos(e),s=Math.sin(e),r=this.x-t.x,o=this.y-t.y;return this.x=r*n-o*s+t.x,this.y=r*s+o*n+t.y,this}random(){return this.x=Math.random(),this.y=Math.random(),this}*[Symbol.iterator](){yield this.x,yield this.y}},Fn=class{constructor(t=0,e=0,n=0,s=1){this.isQuaternion=!0,this._x=t,this._y=e,this._z=n,this._w=s}static slerpFlat(t,e,n,s,r,o,a){let l=n[s+0],c=n[s+1],h=n[s+2],d=n[s+3],u=r[o+0],f=r[o+1],g=r[o+2],y=r[o+3];if(d!==y||l!==u||c!==f||h!==g){let m=l*u+c*f+h*g+d*y;m<0&&(u=-u,f=-f,g=-g,y=-y,m=-m);let p=1-a;if(m<.9995){let v=Math.acos(m),T=Math.sin(v);p=Math.sin(p*v)/T,a=Math.sin(a*v)/T,l=l*p+u*a,c=c*p+f*a,h=h*p+g*a,d=d*p+y*a}else{l=l*p+u*a,c=c*p+f*a,h=h*p+g*a,d=d*p+y*a;let v=1/Math.sqrt(l*l+c*c+h*h+d*d);l*=v,c*=v,h*=v,d*=v}}t[e]=l,t[e+1]=c,t[e+2]=h,t[e+3]=d}static multiplyQuaternionsFlat(t,e,n,s,r,o){let a=n[s],l=n[s+1],c=n[s+2],h=n[s+3],d=r[o],u=r[o+1],f=r[o+2],g=r[o+3];return t[e]=a*g+h*d+l*f-c*u,t[e+1]=l*g+h*u+c*d-a*f,t[e+2]=c*g+h*f+a*u-l*d,t[e+3]=h*g-a*d-l*u-c*f,t}get x(){return this._x}set x(t){this._x=t,this._onChangeCallback()}get y(){return this._y}set y(t){this._y=t,this._onChangeCallback()}get z(){return this._z}set z(t){this._z=t,this._onChangeCallback()}get w(){return this._w}set w(t){this._w=t,this._onChangeCallback()}set(t,e,n,s){return this._x=t,this._y=e,this._z=n,this._w=s,this._onChangeCallback(),this}clone(){return new this.constructor(this._x,this._y,this._z,this._w)}copy(t){return this._x=t.x,this._y=t.y,this._z=t.z,this._w=t.w,this._onChangeCallback(),this}setFromEuler(t,e=!0){let n=t._x,s=t._y,r=t._z,o=t._order,a=Math.cos,l=Math.sin,c=a(n/2),h=a(s/2),d=a(r/2),u=l(n/2),f=l(s/2),g=l(r/2);switch(o){case"XYZ":this._x=u*h*d+c*f*g,this._y=c*f*d-u*h*g,this._z=c*h*g+u*f*d,this._w=c*h*d-u*f*g;break;case"YXZ":this._x=u*h*d+c*f*g,this._y=c*f*d-u*h*g,this._z=c*h*g-u*f*d,this._w=c*h*d+u*f*g;break;case"ZXY":this._x=u*h*d-c*f*g,this._y=c*f*d+u*h*g,this._z=c*h*g+u*f*d,this._w=c*h*d-u*f*g;break;case"ZYX":this._x=u*h*d-c*f*g,this._y=c*f*d+u*h*g,this._z=c*h*g-u*f*d,this._w=c*h*d+u*f*g;break;case"YZX":this._x=u*h*d+c*f*g,this._y=c*f*d+u*h*g,this._z=c*h*g-u*f*d,this._w=c*h*d-u*f*g;break;case"XZY":this._x=u*h*d-c*f*g,this._y=c*f*d-u*h*g,this._z=c*h*g+u*f*d,this._w=c*h*d+u*f*g;break;default:qt("Quaternion: .setFromEuler() encountered an unknown order: "+o)}return e===!0&&this._onChangeCallback(),this}setFromAxisAngle(t,e){let n=e/2,s=Math.sin(n);return this._x=t.x*s,this._y=t.y*s,this._z=t.z*s,this._w=Math.cos(n),this._onChangeCallback(),this}setFromRotationMatrix(t){let e=t.elements,n=e[0],s=e[4],r=e[8],o=e[1],a=e[5],l=e[9],c=e[2],h=e[6],d=e[10],u=n+a+d;if(u>0){let f=.5/Math.sqrt(u+1);this._w=.25/f,this._x=(h-l)*f,this._y=(r-c)*f,this._z=(o-s)*f}else if(n>a&&n>d){let f=2*Math.sqrt(1+n-a-d);this._w=(h-l)/f,this._x=.25*f,this._y=(s+o)/f,this._z=(r+c)/f}else if(a>d){let f=2*Math.sqrt(1+a-n-d);this._w=(r-c)/f,this._x=(s+o)/f,this._y=.25*f,this._z=(l+h)/f}else{let f=2*Math.sqrt(1+d-n-a);this._w=(o-s)/f,this._x=(r+c)/f,this._y=(l+h)/f,this._z=.25*f}return this._onChangeCallback(),this}setFromUnitVectors(t,e){let n=t.dot(e)+1;return n<1e-8?(n=0,Math.abs(t.x)>Math.abs(t.z)?(this._x=-t.y,this._y=t.x,this._z=0,this._w=n):(this._x=0,this._y=-t.z,this._z=t.y,this._w=n)):(this._x=t.y*e.z-t.z*e.y,this._y=t.z*e.x-t.x*e.z,this._z=t.x*e.y-t.y*e.x,this._w=n),this.normalize()}angleTo(t){return 2*Math.acos(Math.abs(ie(this.dot(t),-1,1)))}rotateTowards(t,e){let n=this.angleTo(t);if(n===0)return this;let s=Math.min(1,e/n);return this.slerp(t,s),this}identity(){return this.set(0,0,0,1)}invert(){return this.conjugate()}conjugate(){return this._x*=-1,this._y*=-1,this._z*=-1,this._onChangeCallback(),this}dot(t){return this._x*t._x+this._y*t._y+this._z*t._z+this._w*t._w}lengthSq(){return this._x*this._x+this._y*this._y+this._z*this._z+this._w*this._w}length(){return Math.sqrt(this._x*this._x+this._y*this._y+this._z*this._z+this._w*this._w)}normalize(){let t=this.length();return t===0?(this._x=0,this._y=0,this._z=0,this._w=1):(t=1/t,this._x=this._x*t,this._y=this._y*t,this._z=this._z*t,this._w=this._w*t),this._onChangeCallback(),this}multiply(t){return this.multiplyQuaternions(this,t)}premultiply(t){return this.multiplyQuaternions(t,this)}multiplyQuaternions(t,e){let n=t._x,s=t._y,r=t._z,o=t._w,a=e._x,l=e._y,c=e._z,h=e._w;return this._x=n*h+o*a+s*c-r*l,this._y=s*h+o*l+r*a-n*c,this._z=r*h+o*c+n*l-s*a,this._w=o*h-n*a-s*l-r*c,this._onChangeCallback(),this}slerp(t,e){let n=t._x,s=t._y,r=t._z,o=t._w,a=this.dot(t);a<0&&(n=-n,s=-s,r=-r,o=-o,a=-a);let l=1-e;if(a<.9995){let c=Math.acos(a),h=Math.sin(c);l=Math.sin(l*c)/h,e=Math.sin(e*c)/h,this._x=this._x*l+n*e,this._y=this._y*l+s*e,this._z=this._z*l+r*e,this._w=this._w*l+o*e,this._onChangeCallback()}else this._x=this._x*l+n*e,this._y=this._y*l+s*e,this._z=this._z*l+r*e,this._w=this._w*l+o*e,this.normalize();return this}slerpQuaternions(t,e,n){return this.copy(t).slerp(e,n)}random(){let t=2*Math.PI*Math.random(),e=2*Math.PI*Math.random(),n=Math.random(),s=Math.sqrt(1-n),r=Math.sqrt(n);return this.set(s*Math.sin(t),s*Math.cos(t),r*Math.sin(e),r*Math.cos(e))}equals(t){return t._x===this._x&&t._y===this._y&&t._z===this._z&&t._w===this._w}fromArray(t,e=0){return this._x=t[e],this._y=t[e+1],this._z=t[e+2],this._w=t[e+3],this._onChangeCallback(),this}toArray(t=[],e=0){return t[e]=this._x,t[e+1]=this._y,t[e+2]=this._z,t[e+3]=this._w,t}fromBufferAttribute(t,e){return this._x=t.getX(e),this._y=t.getY(e),this._z=t.getZ(e),this._w=t.getW(e),this._onChangeCallback(),this}toJSON(){return this.toArray()}_onChange(t){return this._onChangeCallback=t,this}_onChangeCallback(){}*[Symbol.iterator](){yield this._x,yield this._y,yield this._z,yield this._w}},O=class{static{this.prototype.isVector3=!0}constructor(t=0,e=0,n=0){this.x=t,this.y=e,this.z=n}set(t,e,n){return n===void 0&&(n=this.z),this.x=t,this.y=e,this.z=n,this}setScalar(t){return this.x=t,this.y=t,this.z=t,this}setX(t){return this.x=t,this}setY(t){return this.y=t,this}setZ(t){return this.z=t,this}setComponent(t,e){switch(t){case 0:this.x=e;break;case 1:this.y=e;break;case 2:this.z=e;break;default:throw new Error("THREE.Vector3: index is out of range: "+t)}return this}getComponent(t){switch(t){case 0:return this.x;case 1:return this.y;case 2:return this.z;default:throw new Error("THREE.Vector3: index is out of range: "+t)}}clone(){return new this.constructor(this.x,this.y,this.z)}copy(t){return this.x=t.x,this.y=t.y,this.z=t.z,this}add(t){return this.x+=t.x,this.y+=t.y,this.z+=t.z,this}addScalar(t){return this.x+=t,this.y+=t,this.z+=t,this}addVectors(t,e){return this.x=t.x+e.x,this.y=t.y+e.y,this.z=t.z+e.z,this}addScaledVector(t,e){return this.x+=t.x*e,this.y+=t.y*e,this.z+=t.z*e,this}sub(t){return this.x-=t.x,this.y-=t.y,this.z-=t.z,this}subScalar(t){return this.x-=t,this.y-=t,this.z-=t,this}subVectors(t,e){return this.x=t.x-e.x,this.y=t.y-e.y,this.z=t.z-e.z,this}multiply(t){return this.x*=t.x,this.y*=t.y,this.z*=t.z,this}multiplyScalar(t){return this.x*=t,this.y*=t,this.z*=t,this}multiplyVectors(t,e){return this.x=t.x*e.x,this.y=t.y*e.y,this.z=t.z*e.z,this}applyEuler(t){return this.applyQuaternion(Fm.setFromEuler(t))}applyAxisAngle(t,e){return this.applyQuaternion(Fm.setFromAxisAngle(t,e))}applyMatrix3(t){let e=this.x,n=this.y,s=this.z,r=t.elements;return this.x=r[0]*e+r[3]*n+r[6]*s,this.y=r[1]*e+r[4]*n+r[7]*s,this.z=r[2]*e+r[5]*n+r[8]*s,this}applyNormalMatrix(t){return this.applyMatrix3(t).normalize()}applyMatrix4(t){let e=this.x,n=this.y,s=this.z,r=t.elements,o=1/(r[3]*e+r[7]*n+r[11]*s+r[15]);return this.x=(r[0]*e+r[4]*n+r[8]*s+r[12])*o,this.y=(r[1]*e+r[5]*n+r[9]*s+r[13])*o,this.z=(r[2]*e+r[6]*n+r[10]*s+r[14])*o,this}applyQuaternion(t){let e=this.x,n=this.y,s=this.z,r=t.x,o=t.y,a=t.z,l=t.w,c=2*(o*s-a*n),h=2*(a*e-r*s),d=2*(r*n-o*e);return this.x=e+l*c+o*d-a*h,this.y=n+l*h+a*c-r*d,this.z=s+l*d+r*h-o*c,this}project(t){return this.applyMatrix4(t.matrixWorldInverse).applyMatrix4(t.projectionMatrix)}unproject(t){return this.applyMatrix4(t.projectionMatrixInverse).applyMatrix4(t.matrixWorld)}transformDirection(t){let e=this.x,n=this.y,s=this.z,r=t.elements;return this.x=r[0]*e+r[4]*n+r[8]*s,this.y=r[1]*e+r[5]*n+r[9]*s,this.z=r[2]*e+r[6]*n+r[10]*s,this.normalize()}divide(t){return this.x/=t.x,this.y/=t.y,this.z/=t.z,this}divideScalar(t){return this.multiplyScalar(1/t)}min(t){return this.x=Math.min(this.x,t.x),this.y=Math.min(this.y,t.y),this.z=Math.min(this.z,t.z),this}max(t){return this.x=Math.max(this.x,t.x),this.y=Math.max(this.y,t.y),this.z=Math.max(this.z,t.z),this}clamp(t,e){return this.x=ie(this.x,t.x,e.x),this.y=ie(this.y,t.y,e.y),this.z=ie(this.z,t.z,e.z),this}clampScalar(t,e){return this.x=ie(this.x,t,e),this.y=ie(this.y,t,e),this.z=ie(this.z,t,e),this}clampLength(t,e){let n=this.length();return this.divideScalar(n||1).multiplyScalar(ie(n,t,e))}floor(){return this.x=Math.floor(this.x),this.y=Math.floor(this.y),this.z=Math.floor(this.z),this}ceil(){return this.x=Math.ceil(this.x),this.y=Math.ceil(this.y),this.z=Math.ceil(this.z),this}round(){return this.x=Math.round(this.x),this.y=Math.round(this.y),this.z=Math.round(this.z),this}roundToZero(){return this.x=Math.trunc(this.x),this.y=Math.trunc(this.y),this.z=Math.trunc(this.z),this}negate(){return this.x=-this.x,this.y=-this.y,this.z=-this.z,this}dot(t){return this.x*t.x+this.y*t.y+this.z*t.z}lengthSq(){return this.x*this.x+this.y*this.y+this.z*this.z}length(){return Math.sqrt(this.x*this.x+this.y*this.y+this.z*this.z)}manhattanLength(){return Math.abs(this.x)+Math.abs(this.y)+Math.abs(this.z)}normalize(){return this.divideScalar(this.length()||1)}setLength(t){return this.normalize().multiplyScalar(t)}lerp(t,e){return this.x+=(t.x-this.x)*e,this.y+=(t.y-this.y)*e,this.z+=(t.z-this.z)*e,this}lerpVectors(t,e,n){return this.x=t.x+(e.x-t.x)*n,this.y=t.y+(e.y-t.y)*n,this.z=t.z+(e.z-t.z)*n,this}cross(t){return this.crossVectors(this,t)}crossVectors(t,e){let n=t.x,s=t.y,r=t.z,o=e.x,a=e.y,l=e.z;return this.x=s*l-r*a,this.y=r*o-n*l,this.z=n*a-s*o,this}projectOnVector(t){let e=t.lengthSq();if(e===0)return this.set(0,0,0);let n=t.dot(this)/e;return this.copy(t).multiplyScalar(n)}projectOnPlane(t){return Vu.copy(this).projectOnVector(t),this.sub(Vu)}reflect(t){return this.sub(Vu.copy(t).multiplyScalar(2*this.dot(t)))}angleTo(t){let e=Math.sqrt(this.lengthSq()*t.lengthSq());if(e===0)return Math.PI/2;let n=this.dot(t)/e;return Math.acos(ie(n,-1,1))}distanceTo(t){return Math.sqrt(this.distanceToSquared(t))}distanceToSquared(t){let e=this.x-t.x,n=this.y-t.y,s=this.z-t.z;return e*e+n*n+s*s}manhattanDistanceTo(t){return Math.abs(this.x-t.x)+Math.abs(this.y-t.y)+Math.abs(this.z-t.z)}setFromSpherical(t){return this.setFromSphericalCoords(t.radius,t.phi,t.theta)}setFromSphericalCoords(t,e,n){let s=Math.sin(e)*t;return this.x=s*Math.sin(n),this.y=Math.cos(e)*t,this.z=s*Math.cos(n),this}setFromCylindrical(t){return this.setFromCylindricalCoords(t.radius,t.theta,t.y)}setFromCylindricalCoords(t,e,n){return this.x=t*Math.sin(e),this.y=n,this.z=t*Math.cos(e),this}setFromMatrixPosition(t){let e=t.elements;return this.x=e[12],this.y=e[13],this.z=e[14],this}setFromMatrixScale(t){let e=this.setFromMatrixColumn(t,0).length(),n=this.setFromMatrixColumn(t,1).length(),s=this.setFromMatrixColumn(t,2).length();return this.x=e,this.y=n,this.z=s,this}setFromMatrixColumn(t,e){return this.fromArray(t.elements,e*4)}setFromMatrix3Column(t,e){return this.fromArray(t.elements,e*3)}setFromEuler(t){return this.x=t._x,this.y=t._y,this.z=t._z,this}setFromColor(t){return this.x=t.r,this.y=t.g,this.z=t.b,this}equals(t){return t.x===this.x&&t.y===this.y&&t.z===this.z}fromArray(t,e=0){return this.x=t[e],this.y=t[e+1],this.z=t[e+2],this}toArray(t=[],e=0){return t[e]=this.x,t[e+1]=this.y,t[e+2]=this.z,t}fromBufferAttribute(t,e){return this.x=t.getX(e),this.y=t.getY(e),this.z=t.getZ(e),this}random(){return this.x=Math.random(),this.y=Math.random(),this.z=Math.random(),this}randomDirection(){let t=Math.random()*Math.PI*2,e=Math.random()*2-1,n=Math.sqrt(1-e*e);return this.x=n*Math.cos(t),this.y=e,this.z=n*Math.sin(t),this}*[Symbol.iterator](){yield this.x,yield this.y,yield this.z}},Vu=new O,Fm=new Fn,te=class{static{this.prototype.isMatrix3=!0}constructor(t,e,n,s,r,o,a,l,c){this.elements=[1,0,0,0,1,0,0,0,1],t!==void 0&&this.set(t,e,n,s,r,o,a,l,c)}set(t,e,n,s,r,o,a,l,c){let h=this.elements;return h[0]=t,h[1]=s,h[2]=a,h[3]=e,h[4]=r,h[5]=l,h[6]=n,h[7]=o,h[8]=c,this}identity(){return this.set(1,0,0,0,1,0,0,0,1),this}copy(t){let e=this.elements,n=t.elements;return e[0]=n[0],e[1]=n[1],e[2]=n[2],e[3]=n[3],e[4]=n[4],e[5]=n[5],e[6]=n[6],e[7]=n[7],e[8]=n[8],this}extractBasis(t,e,n){return t.setFromMatrix3Column(this,0),e.setFromMatrix3Column(this,1),n.setFromMatrix3Column(this,2),this}setFromMatrix4(t){let e=t.elements;return this.set(e[0],e[4],e[8],e[1],e[5],e[9],e[2],e[6],e[10]),this}multiply(t){return this.multiplyMatrices(this,t)}premultiply(t){return this.multiplyMatrices(t,this)}multiplyMatrices(t,e){let n=t.elements,s=e.elements,r=this.elements,o=n[0],a=n[3],l=n[6],c=n[1],h=n[4],d=n[7],u=n[2],f=n[5],g=n[8],y=s[0],m=s[3],p=s[6],v=s[1],T=s[4],M=s[7],P=s[2],E=s[5],x=s[8];return r[0]=o*y+a*v+l*P,r[3]=o*m+a*T+l*E,r[6]=o*p+a*M+l*x,r[1]=c*y+h*v+d*P,r[4]=c*m+h*T+d*E,r[7]=c*p+h*M+d*x,r[2]=u*y+f*v+g*P,r[5]=u*m+f*T+g*E,r[8]=u*p+f*M+g*x,this}multiplyScalar(t){let e=this.elements;return e[0]*=t,e[3]*=t,e[6]*=t,e[1]*=t,e[4]*=t,e[7]*=t,e[2]*=t,e[5]*=t,e[8]*=t,this}determinant(){let t=this.elements,e=t[0],n=t[1],s=t[2],r=t[3],o=t[4],a=t[5],l=t[6],c=t[7],h=t[8];return e*o*h-e*a*c-n*r*h+n*a*l+s*r*c-s*o*l}invert(){let t=this.elements,e=t[0],n=t[1],s=t[2],r=t[3],o=t[4],a=t[5],l=t[6],c=t[7],h=t[8],d=h*o-a*c,u=a*l-h*r,f=c*r-o*l,g=e*d+n*u+s*f;if(g===0)return this.set(0,0,0,0,0,0,0,0,0);let y=1/g;return t[0]=d*y,t[1]=(s*c-h*n)*y,t[2]=(a*n-s*o)*y,t[3]=u*y,t[4]=(h*e-s*l)*y,t[5]=(s*r-a*e)*y,t[6]=f*y,t[7]=(n*l-c*e)*y,t[8]=(o*e-n*r)*y,this}transpose(){let t,e=this.elements;return t=e[1],e[1]=e[3],e[3]=t,t=e[2],e[2]=e[6],e[6]=t,t=e[5],e[5]=e[7],e[7]=t,this}getNormalMatrix(t){return this.setFromMatrix4(t).invert().transpose()}transposeIntoArray(t){let e=this.elements;return t[0]=e[0],t[1]=e[3],t[2]=e[6],t[3]=e[1],t[4]=e[4],t[5]=e[7],t[6]=e[2],t[7]=e[5],t[8]=e[8],this}setUvTransform(t,e,n,s,r,o,a){let l=Math.cos(r),c=Math.sin(r);return this.set(n*l,n*c,-n*(l*o+c*a)+o+t,-s*c,s*l,-s*(-c*o+l*a)+a+e,0,0,1),this}scale(t,e){return ea("Matrix3: .scale() is deprecated. Use .makeScale() instead."),this.premultiply(Gu.makeScale(t,e)),this}rotate(t){return ea("Matrix3: .rotate() is deprecated. Use .makeRotation() instead."),this.premultiply(Gu.makeRotation(-t)),this}translate(t,e){return ea("Matrix3: .translate() is deprecated. Use .makeTranslation() instead."),this.premultiply(Gu.makeTranslation(t,e)),this}makeTranslation(t,e){return t.isVector2?this.set(1,0,t.x,0,1,t.y,0,0,1):this.set(1,0,t,0,1,e,0,0,1),this}makeRotation(t){let e=Math.cos(t),n=Math.sin(t);return this.set(e,-n,0,n,e,0,0,0,1),this}makeScale(t,e){return this.set(t,0,0,0,e,0,0,0,1),this}equals(t){let e=this.elements,n=t.elements;for(let s=0;s<9;s++)if(e[s]!==n[s])return!1;return!0}fromArray(t,e=0){for(let n=0;n<9;n++)this.elements[n]=t[n+e];return this}toArray(t=[],e=0){let n=this.elements;return t[e]=n[0],t[e+1]=n[1],t[e+2]=n[2],t[e+3]=n[3],t[e+4]=n[4],t[e+5]=n[5],t[e+6]=n[6],t[e+7]=n[7],t[e+8]=n[8],t}clone(){return new this.constructor().fromArray(this.elements)}},Gu=new te,Om=new te().set(.4123908,.3575843,.1804808,.212639,.7151687,.0721923,.0193308,.1191948,.9505322),Bm=new te().set(3.2409699,-1.5373832,-.4986108,-.9692436,1.8759675,.0415551,.0556301,-.203977,1.0569715);function Xv(){let i={enabled:!0,workingColorSpace:ra,spaces:{},convert:function(s,r,o){return this.enabled===!1||r===o||!r||!o||(this.spaces[r].transfer===Te&&(s.r=_s(s.r),s.g=_s(s.g),s.b=_s(s.b)),this.spaces[r].primaries!==this.spaces[o].primaries&&(s.applyMatrix3(this.spaces[r].toXYZ),s.applyMatrix3(this.spaces[o].fromXYZ)),this.spaces[o].transfer===Te&&(s.r=ao(s.r),s.g=ao(s.g),s.b=ao(s.b))),s},workingToColorSpace:function(s,r){return this.convert(s,this.workingColorSpace,r)},colorSpaceToWorking:function(s,r){return this.convert(s,r,this.workingColorSpace)},getPrimaries:function(s){return this.spaces[s].primaries},getTransfer:function(s){return s===ws?oa:this.spaces[s].transfer},getToneMappingMode:function(s){return this.spaces[s].outputColorSpaceConfig.toneMappingMode||"standard"},getLuminanceCoefficients:function(s,r=this.workingColorSpace){return s.fromArray(this.spaces[r].luminanceCoefficients)},define:function(s){Object.assign(this.spaces,s)},_getMatrix:function(s,r,o){return s.copy(this.spaces[o].fromXYZ).multiply(this.spaces[r].toXYZ)},_getDrawingBufferColorSpace:function(s){return this.spaces[s].outputColorSpaceConfig.drawingBufferColorSpace},_getUnpackColorSpace:function(s=this.workingColorSpace){return this.spaces[s].workingColorSpaceConfig.unpackColorSpace}},t=[.64,.33,.3,.6,.15,.06],e=[.2126,.7152,.0722],n=[.3127,.329];return i.define({[ra]:{primaries:t,whitePoint:n,transfer:oa,toXYZ:Om,fromXYZ:Bm,luminanceCoefficients:e,workingColorSpaceConfig:{unpackColorSpace:li},outputColorSpaceConfig:{drawingBufferColorSpace:li}},[li]:{primaries:t,whitePoint:n,transfer:Te,toXYZ:Om,fromXYZ:Bm,luminanceCoefficients:e,outputColorSpaceConfig:{drawingBufferColorSpace:li}}}),i}var _e=Xv();function _s(i){return i<.04045?i*.0773993808:Math.pow(i*.9478672986+.0521327014,2.4)}function ao(i){return i<.0031308?i*12.92:1.055*Math.pow(i,.41666)-.055}var Xr,cc=class{static getDataURL(t,e="image/png"){if(/^data:/i.test(t.src)||typeof HTMLCanvasElement>"u")return t.src;let n;if(t instanceof HTMLCanvasElement)n=t;else{Xr===void 0&&(Xr=aa("canvas")),Xr.width=t.width,Xr.height=t.height;let s=Xr.getContext("2d");t instanceof ImageData?s.putImageData(t,0,0):s.drawImage(t,0,0,t.width,t.height),n=Xr}return n.toDataURL(e)}static sRGBToLinear(t){if(typeof HTMLImageElement<"u"&&t instanceof HTMLImageElement||typeof HTMLCanvasElement<"u"&&t instanceof HTMLCanvasElement||typeof ImageBitmap<"u"&&t instanceof ImageBitmap){let e=aa("canvas");e.width=t.width,e.height=t.height;let n=e.getContext("2d");n.drawImage(t,0,0,t.width,t.height);let s=n.getImageData(0,0,t.width,t.height),r=s.data;for(let o=0;o<r.length;o++)r[o]=_s(r[o]/255)*255;return n.putImageData(s,0,0),e}else if(t.data){let e=t.data.slice(0);for(let n=0;n<e.length;n++)e instanceof Uint8Array||e instanceof Uint8ClampedArray?e[n]=Math.floor(_s(e[n]/255)*255):e[n]=_s(e[n]);return{data:e,width:t.width,height:t.height}}else return qt("ImageUtils.sRGBToLinear(): Unsupported image type. No color space conversion applied."),t}},qv=0,fo=class{constructor(t=null){this.isTextureSource=!0,Object.defineProperty(this,"id",{value:qv++}),this.uuid=Js(),this.data=t,this.dataReady=!0,this.version=0}getSize(t){let e=this.data;return typeof HTMLVideoElement<"u"&&e instanceof HTMLVideoElement?t.set(e.videoWidth,e.videoHeight,0):typeof VideoFrame<"u"&&e instanceof VideoFrame?t.set(e.displayWidth,e.displayHeight,0):e!==null?t.set(e.width||0,e.height||0,e.depth||0):t.set(0,0,0),t}set needsUpdate(t){t===!0&&this.version++}toJSON(t){let e=t===void 0||typeof t=="string";if(!e&&t.images[this.uuid]!==void 0)return t.images[this.uuid];let n={uuid:this.uuid,url:""},s=this.data;if(s!==null){let r;if(Array.isArray(s)){r=[];for(let o=0,a=s.length;o<a;o++)s[o].isDataTexture?r.push(Hu(s[o].image)):r.push(Hu(s[o]))}else r=Hu(s);n.url=r}return e||(t.images[this.uuid]=n),n}};function Hu(i){return typeof HTMLImageElement<"u"&&i instanceof HTMLImageElement||typeof HTMLCanvasElement<"u"&&i instanceof HTMLCanvasElement||typeof ImageBitmap<"u"&&i instanceof ImageBitmap?cc.getDataURL(i):i.data?{data:Array.from(i.data),width:i.width,height:i.height,type:i.data.constructor.name}:(qt("Texture: Unable to serialize Texture."),{})}var Yv=0,Wu=new O,Kn=class i extends ji{constructor(t=i.DEFAULT_IMAGE,e=i.DEFAULT_MAPPING,n=Ki,s=Ki,r=Yn,o=Ms,a=ki,l=jn,c=i.DEFAULT_ANISOTROPY,h=ws){super(),this.isTexture=!0,Object.defineProperty(this,"id",{value:Yv++}),this.uuid=Js(),this.name="",this.source=new fo(t),this.mipmaps=[],this.mapping=e,this.channel=0,this.wrapS=n,this.wrapT=s,this.magFilter=r,this.minFilter=o,this.anisotropy=c,this.format=a,this.internalFormat=null,this.type=l,this.offset=new Kt(0,0),this.repeat=new Kt(1,1),this.center=new Kt(0,0),this.rotation=0,this.matrixAutoUpdate=!0,this.matrix=new te,this.generateMipmaps=!0,this.mipmapsAutoUpdate=!0,this.premultiplyAlpha=!1,this.flipY=!0,this.unpackAlignment=4,this.colorSpace=h,this.userData={},this.updateRanges=[],this.version=0,this.onUpdate=null,this.renderTarget=null,this.isRenderTargetTexture=!1,this.isArrayTexture=!!(t&&t.depth&&t.depth>1),this.pmremVersion=0,this.isPMREMTexture=!1,this.normalized=!1}get width(){return this.source.getSize(Wu).x}get height(){return this.source.getSize(Wu).y}get depth(){return this.source.getSize(Wu).z}get image(){return this.source.data}set image(t){this.source.data=t}updateMatrix(){this.matrix.setUvTransform(this.offset.x,this.offset.y,this.repeat.x,this.repeat.y,this.rotation,this.center.x,this.center.y)}addUpdateRange(t,e){this.updateRanges.push({start:t,count:e})}clearUpdateRanges(){this.updateRanges.length=0}clone(){return new this.constructor().copy(this)}copy(t){return this.name=t.name,this.source=t.source,this.mipmaps=t.mipmaps.slice(0),this.mapping=t.mapping,this.channel=t.channel,this.wrapS=t.wrapS,this.wrapT=t.wrapT,this.magFilter=t.magFilter,this.minFilter=t.minFilter,this.anisotropy=t.anisotropy,this.format=t.format,this.internalFormat=t.internalFormat,this.type=t.type,this.normalized=t.normalized,this.offset.copy(t.offset),this.repeat.copy(t.repeat),this.center.copy(t.center),this.rotation=t.rotation,this.matrixAutoUpdate=t.matrixAutoUpdate,this.matrix.copy(t.matrix),this.generateMipmaps=t.generateMipmaps,this.mipmapsAutoUpdate=t.mipmapsAutoUpdate,this.premultiplyAlpha=t.premultiplyAlpha,this.flipY=t.flipY,this.unpackAlignment=t.unpackAlignment,this.colorSpace=t.colorSpace,this.renderTarget=t.renderTarget,this.isRenderTargetTexture=t.isRenderTargetTexture,this.isPMREMTexture=t.isPMREMTexture,this.isArrayTexture=t.isArrayTexture,this.userData=JSON.parse(JSON.stringify(t.userData)),this.needsUpdate=!0,this}setValues(t){for(let e in t){let n=t[e];if(n===void 0){qt(`Texture.setValues(): parameter '${e}' has value of undefined.`);continue}let s=this[e];if(s===void 0){qt(`Texture.setValues(): property '${e}' does not exist.`);continue}s&&n&&s.isVector2&&n.isVector2||s&&n&&s.isVector3&&n.isVector3||s&&n&&s.isMatrix3&&n.isMatrix3?s.copy(n):this[e]=n}}toJSON(t){let e=t===void 0||typeof t=="string";if(!e&&t.textures[this.uuid]!==void 0)return t.textures[this.uuid];let n={metadata:{version:4.7,type:"Texture",generator:"Texture.toJSON"},uuid:this.uuid,name:this.name,image:this.source.toJSON(t).uuid,mapping:this.mapping,channel:this.channel,repeat:[this.repeat.x,this.repeat.y],offset:[this.offset.x,this.offset.y],center:[this.center.x,this.center.y],rotation:this.rotation,wrap:[this.wrapS,this.wrapT],format:this.format,internalFormat:this.internalFormat,type:this.type,normalized:this.normalized,colorSpace:this.colorSpace,minFilter:this.minFilter,magFilter:this.magFilter,anisotropy:this.anisotropy,flipY:this.flipY,generateMipmaps:this.generateMipmaps,mipmapsAutoUpdate:this.mipmapsAutoUpdate,premultiplyAlpha:this.premultiplyAlpha,unpackAlignment:this.unpackAlignment};return Object.keys(this.userData).length>0&&(n.userData=this.userData),e||(t.textures[this.uuid]=n),n}dispose(){this.dispatchEvent({type:"dispose"})}transformUv(t){if(this.mapping!==Pd)return t;if(t.applyMatrix3(this.matrix),t.x<0||t.x>1)switch(this.wrapS){case oc:t.x=t.x-Math.floor(t.x);break;case Ki:t.x=t.x<0?0:1;break;case ac:Math.abs(Math.floor(t.x)%2)===1?t.x=Math.ceil(t.x)-t.x:t.x=t.x-Math.floor(t.x);break}if(t.y<0||t.y>1)switch(this.wrapT){case oc:t.y=t.y-Math.floor(t.y);break;case Ki:t.y=t.y<0?0:1;break;case ac:Math.abs(Math.floor(t.y)%2)===1?t.y=Math.ceil(t.y)-t.y:t.y=t.y-Math.floor(t.y);break}return this.flipY&&(t.y=1-t.y),t}set needsUpdate(t){t===!0&&(this.version++,this.source.needsUpdate=!0)}set needsPMREMUpdate(t){t===!0&&this.pmremVersion++}};Kn.DEFAULT_IMAGE=null;Kn.DEFAULT_MAPPING=Pd;Kn.DEFAULT_ANISOTROPY=1;var Re=class{static{this.prototype.isVector4=!0}constructor(t=0,e=0,n=0,s=1){this.x=t,this.y=e,this.z=n,this.w=s}get width(){return this.z}set width(t){this.z=t}get height(){return this.w}set height(t){this.w=t}set(t,e,n,s){return this.x=t,this.y=e,this.z=n,this.w=s,this}setScalar(t){return this.x=t,this.y=t,this.z=t,this.w=t,this}setX(t){return this.x=t,this}setY(t){return this.y=t,this}setZ(t){return this.z=t,this}setW(t){return this.w=t,this}setComponent(t,e){switch(t){case 0:this.x=e;break;case 1:this.y=e;break;case 2:this.z=e;break;case 3:this.w=e;break;default:throw new Error("THREE.Vector4: index is out of range: "+t)}return this}getComponent(t){switch(t){case 0:return this.x;case 1:return this.y;case 2:return this.z;case 3:return this.w;default:throw new Error("THREE.Vector4: index is out of range: "+t)}}clone(){return new this.constructor(this.x,this.y,this.z,this.w)}copy(t){return this.x=t.x,this.y=t.y,this.z=t.z,this.w=t.w!==void 0?t.w:1,this}add(t){return this.x+=t.x,this.y+=t.y,this.z+=t.z,this.w+=t.w,this}addScalar(t){return this.x+=t,this.y+=t,this.z+=t,this.w+=t,this}addVectors(t,e){return this.x=t.x+e.x,this.y=t.y+e.y,this.z=t.z+e.z,this.w=t.w+e.w,this}addScaledVector(t,e){return this.x+=t.x*e,this.y+=t.y*e,this.z+=t.z*e,this.w+=t.w*e,this}sub(t){return this.x-=t.x,this.y-=t.y,this.z-=t.z,this.w-=t.w,this}subScalar(t){return this.x-=t,this.y-=t,this.z-=t,this.w-=t,this}subVectors(t,e){return this.x=t.x-e.x,this.y=t.y-e.y,this.z=t.z-e.z,this.w=t.w-e.w,this}multiply(t){return this.x*=t.x,this.y*=t.y,this.z*=t.z,this.w*=t.w,this}multiplyScalar(t){return this.x*=t,this.y*=t,this.z*=t,this.w*=t,this}applyMatrix4(t){let e=this.x,n=this.y,s=this.z,r=this.w,o=t.elements;return this.x=o[0]*e+o[4]*n+o[8]*s+o[12]*r,this.y=o[1]*e+o[5]*n+o[9]*s+o[13]*r,this.z=o[2]*e+o[6]*n+o[10]*s+o[14]*r,this.w=o[3]*e+o[7]*n+o[11]*s+o[15]*r,this}divide(t){return this.x/=t.x,this.y/=t.y,this.z/=t.z,this.w/=t.w,this}divideScalar(t){return this.multiplyScalar(1/t)}setAxisAngleFromQuaternion(t){this.w=2*Math.acos(t.w);let e=Math.sqrt(1-t.w*t.w);return e<1e-4?(this.x=1,this.y=0,this.z=0):(this.x=t.x/e,this.y=t.y/e,this.z=t.z/e),this}setAxisAngleFromRotationMatrix(t){let e,n,s,r,l=t.elements,c=l[0],h=l[4],d=l[8],u=l[1],f=l[5],g=l[9],y=l[2],m=l[6],p=l[10];if(Math.abs(h-u)<.01&&Math.abs(d-y)<.01&&Math.abs(g-m)<.01){if(Math.abs(h+u)<.1&&Math.abs(d+y)<.1&&Math.abs(g+m)<.1&&Math.abs(c+f+p-3)<.1)return this.set(1,0,0,0),this;e=Math.PI;let T=(c+1)/2,M=(f+1)/2,P=(p+1)/2,E=(h+u)/4,x=(d+y)/4,A=(g+m)/4;return T>M&&T>P?T<.01?(n=0,s=.707106781,r=.707106781):(n=Math.sqrt(T),s=E/n,r=x/n):M>P?M<.01?(n=.707106781,s=0,r=.707106781):(s=Math.sqrt(M),n=E/s,r=A/s):P<.01?(n=.707106781,s=.707106781,r=0):(r=Math.sqrt(P),n=x/r,s=A/r),this.set(n,s,r,e),this}let v=Math.sqrt((m-g)*(m-g)+(d-y)*(d-y)+(u-h)*(u-h));return Math.abs(v)<.001&&(v=1),this.x=(m-g)/v,this.y=(d-y)/v,this.z=(u-h)/v,this.w=Math.acos((c+f+p-1)/2),this}setFromMatrixPosition(t){let e=t.elements;return this.x=e[12],this.y=e[13],this.z=e[14],this.w=e[15],this}min(t){return this.x=Math.min(this.x,t.x),this.y=Math.min(this.y,t.y),this.z=Math.min(this.z,t.z),this.w=Math.min(this.w,t.w),this}max(t){return this.x=Math.max(this.x,t.x),this.y=Math.max(this.y,t.y),this.z=Math.max(this.z,t.z),this.w=Math.max(this.w,t.w),this}clamp(t,e){return this.x=ie(this.x,t.x,e.x),this.y=ie(this.y,t.y,e.y),this.z=ie(this.z,t.z,e.z),this.w=ie(this.w,t.w,e.w),this}clampScalar(t,e){return this.x=ie(this.x,t,e),this.y=ie(this.y,t,e),this.z=ie(this.z,t,e),this.w=ie(this.w,t,e),this}clampLength(t,e){let n=this.length();return this.divideScalar(n||1).multiplyScalar(ie(n,t,e))}floor(){return this.x=Math.floor(this.x),this.y=Math.floor(this.y),this.z=Math.floor(this.z),this.w=Math.floor(this.w),this}ceil(){return this.x=Math.ceil(this.x),this.y=Math.ceil(this.y),this.z=Math.ceil(this.z),this.w=Math.ceil(this.w),this}round(){return this.x=Math.round(this.x),this.y=Math.round(this.y),this.z=Math.round(this.z),this.w=Math.round(this.w),this}roundToZero(){return this.x=Math.trunc(this.x),this.y=Math.trunc(this.y),this.z=Math.trunc(this.z),this.w=Math.trunc(this.w),this}negate(){return this.x=-this.x,this.y=-this.y,this.z=-this.z,this.w=-this.w,this}dot(t){return this.x*t.x+this.y*t.y+this.z*t.z+this.w*t.w}lengthSq(){return this.x*this.x+this.y*this.y+this.z*this.z+this.w*this.w}length(){return Math.sqrt(this.x*this.x+this.y*this.y+this.z*this.z+this.w*this.w)}manhattanLength(){return Math.abs(this.x)+Math.abs(this.y)+Math.abs(this.z)+Math.abs(this.w)}normalize(){return this.divideScalar(this.length()||1)}setLength(t){return this.normalize().multiplyScalar(t)}lerp(t,e){return this.x+=(t.x-this.x)*e,this.y+=(t.y-this.y)*e,this.z+=(t.z-this.z)*e,this.w+=(t.w-this.w)*e,this}lerpVectors(t,e,n){return this.x=t.x+(e.x-t.x)*n,this.y=t.y+(e.y-t.y)*n,this.z=t.z+(e.z-t.z)*n,this.w=t.w+(e.w-t.w)*n,this}equals(t){return t.x===this.x&&t.y===this.y&&t.z===this.z&&t.w===this.w}fromArray(t,e=0){return this.x=t[e],this.y=t[e+1],this.z=t[e+2],this.w=t[e+3],this}toArray(t=[],e=0){return t[e]=this.x,t[e+1]=this.y,t[e+2]=this.z,t[e+3]=this.w,t}fromBufferAttribute(t,e){return this.x=t.getX(e),this.y=t.getY(e),this.z=t.getZ(e),this.w=t.getW(e),this}random(){return this.x=Math.random(),this.y=Math.random(),this.z=Math.random(),this.w=Math.random(),this}*[Symbol.iterator](){yield this.x,yield this.y,yield this.z,yield this.w}},hc=class extends ji{constructor(t=1,e=1,n={}){super(),n=Object.assign({generateMipmaps:!1,internalFormat:null,minFilter:Yn,depthBuffer:!0,stencilBuffer:!1,resolveColorBuffer:!0,resolveDepthBuffer:!0,resolveStencilBuffer:!0,storeMultisampledColorBuffer:!0,storeMultisampledDepthBuffer:!0,storeMultisampledStencilBuffer:!0,depthTexture:null,samples:0,count:1,depth:1,multiview:!1,useArrayDepthTexture:!1},n),this.isRenderTarget=!0,this.width=t,this.height=e,this.depth=n.depth,this.scissor=new Re(0,0,t,e),this.scissorTest=!1,this.viewport=new Re(0,0,t,e),this.textures=[];let s=n.count;for(let r=0;r<s;r++)this.textures[r]=new Kn({width:t,height:e,depth:n.depth}),this.textures[r].isRenderTargetTexture=!0,this.textures[r].renderTarget=this;this._setTextureOptions(n),this.depthBuffer=n.depthBuffer,this.stencilBuffer=n.stencilBuffer,this.resolveColorBuffer=n.resolveColorBuffer,this.resolveDepthBuffer=n.resolveDepthBuffer,this.resolveStencilBuffer=n.resolveStencilBuffer,this.storeMultisampledColorBuffer=n.storeMultisampledColorBuffer,this.storeMultisampledDepthBuffer=n.storeMultisampledDepthBuffer,this.storeMultisampledStencilBuffer=n.storeMultisampledStencilBuffer,this._depthTexture=null,this.depthTexture=n.depthTexture,this.samples=n.samples,this.multiview=n.multiview,this.useArrayDepthTexture=n.useArrayDepthTexture}_setTextureOptions(t={}){let e={minFilter:Yn,generateMipmaps:!1,flipY:!1,internalFormat:null};t.mapping!==void 0&&(e.mapping=t.mapping),t.wrapS!==void 0&&(e.wrapS=t.wrapS),t.wrapT!==void 0&&(e.wrapT=t.wrapT),t.wrapR!==void 0&&(e.wrapR=t.wrapR),t.magFilter!==void 0&&(e.magFilter=t.magFilter),t.minFilter!==void 0&&(e.minFilter=t.minFilter),t.format!==void 0&&(e.format=t.format),t.type!==void 0&&(e.type=t.type),t.anisotropy!==void 0&&(e.anisotropy=t.anisotropy),t.colorSpace!==void 0&&(e.colorSpace=t.colorSpace),t.flipY!==void 0&&(e.flipY=t.flipY),t.generateMipmaps!==void 0&&(e.generateMipmaps=t.generateMipmaps),t.mipmapsAutoUpdate!==void 0&&(e.mipmapsAutoUpdate=t.mipmapsAutoUpdate),t.internalFormat!==void 0&&(e.internalFormat=t.internalFormat);for(let n=0;n<this.textures.length;n++)this.textures[n].setValues(e)}get texture(){return this.textures[0]}set texture(t){this.textures[0]=t}set depthTexture(t){this._depthTexture!==null&&this._depthTexture.renderTarget===this&&(this._depthTexture.renderTarget=null),t!==null&&t.renderTarget===null&&(t.renderTarget=this),this._depthTexture=t}get depthTexture(){return this._depthTexture}setSize(t,e,n=1){if(this.width!==t||this.height!==e||this.depth!==n){this.width=t,this.height=e,this.depth=n;for(let s=0,r=this.textures.length;s<r;s++)this.textures[s].image.width=t,this.textures[s].image.height=e,this.textures[s].image.depth=n,this.textures[s].isData3DTexture!==!0&&(this.textures[s].isArrayTexture=this.textures[s].image.depth>1);this.dispose()}this.viewport.set(0,0,t,e),this.scissor.set(0,0,t,e)}clone(){return new this.constructor().copy(this)}copy(t){this.width=t.width,this.height=t.height,this.depth=t.depth,this.scissor.copy(t.scissor),this.scissorTest=t.scissorTest,this.viewport.copy(t.viewport),this.textures.length=0;for(let e=0,n=t.textures.length;e<n;e++){this.textures[e]=t.textures[e].clone(),this.textures[e].isRenderTargetTexture=!0,this.textures[e].renderTarget=this;let s=Object.assign({},t.textures[e].image);this.textures[e].source=new fo(s)}if(this.depthBuffer=t.depthBuffer,this.stencilBuffer=t.stencilBuffer,this.resolveColorBuffer=t.resolveColorBuffer,this.resolveDepthBuffer=t.resolveDepthBuffer,this.resolveStencilBuffer=t.resolveStencilBuffer,this.storeMultisampledColorBuffer=t.storeMultisampledColorBuffer,this.storeMultisampledDepthBuffer=t.storeMultisampledDepthBuffer,this.storeMultisampledStencilBuffer=t.storeMultisampledStencilBuffer,t.depthTexture!==null)if(t.depthTexture.renderTarget===t){let e=t.depthTexture.clone();e.renderTarget=null,this.depthTexture=e}else this.depthTexture=t.depthTexture;else this.depthTexture=null;return this.samples=t.samples,this.multiview=t.multiview,this.useArrayDepthTexture=t.useArrayDepthTexture,this}dispose(){this.dispatchEvent({type:"dispose"})}},ci=class extends hc{constructor(t=1,e=1,n={}){super(t,e,n),this.isWebGLRenderTarget=!0}},ca=class extends Kn{constructor(t=null,e=1,n=1,s=1){super(null),this.isDataArrayTexture=!0,this.image={data:t,width:e,height:n,depth:s},this.magFilter=An,this.minFilter=An,this.wrapR=Ki,this.generateMipmaps=!1,this.flipY=!1,this.unpackAlignment=1,this.layerUpdates=new Set}copy(t){return super.copy(t),this.wrapR=t.wrapR,this}addLayerUpdate(t){this.layerUpdates.add(t)}clearLayerUpdates(){this.layerUpdates.clear()}};var uc=class extends Kn{constructor(t=null,e=1,n=1,s=1){super(null),this.isData3DTexture=!0,this.image={data:t,width:e,height:n,depth:s},this.magFilter=An,this.minFilter=An,this.wrapR=Ki,this.generateMipmaps=!1,this.flipY=!1,this.unpackAlignment=1}copy(t){return super.copy(t),this.wrapR=t.wrapR,this}};var ye=class i{static{this.prototype.isMatrix4=!0}constructor(t,e,n,s,r,o,a,l,c,h,d,u,f,g,y,m){this.elements=[1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1],t!==void 0&&this.set(t,e,n,s,r,o,a,l,c,h,d,u,f,g,y,m)}set(t,e,n,s,r,o,a,l,c,h,d,u,f,g,y,m){let p=this.elements;return p[0]=t,p[4]=e,p[8]=n,p[12]=s,p[1]=r,p[5]=o,p[9]=a,p[13]=l,p[2]=c,p[6]=h,p[10]=d,p[14]=u,p[3]=f,p[7]=g,p[11]=y,p[15]=m,this}identity(){return this.set(1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1),this}clone(){return new i().fromArray(this.elements)}copy(t){let e=this.elements,n=t.elements;return e[0]=n[0],e[1]=n[1],e[2]=n[2],e[3]=n[3],e[4]=n[4],e[5]=n[5],e[6]=n[6],e[7]=n[7],e[8]=n[8],e[9]=n[9],e[10]=n[10],e[11]=n[11],e[12]=n[12],e[13]=n[13],e[14]=n[14],e[15]=n[15],this}copyPosition(t){let e=this.elements,n=t.elements;return e[12]=n[12],e[13]=n[13],e[14]=n[14],this}setFromMatrix3(t){let e=t.elements;return this.set(e[0],e[3],e[6],0,e[1],e[4],e[7],0,e[2],e[5],e[8],0,0,0,0,1),this}extractBasis(t,e,n){return this.determinantAffine()===0?(t.set(1,0,0),e.set(0,1,0),n.set(0,0,1),this):(t.setFromMatrixColumn(this,0),e.setFromMatrixColumn(this,1),n.setFromMatrixColumn(this,2),this)}makeBasis(t,e,n){return this.set(t.x,e.x,n.x,0,t.y,e.y,n.y,0,t.z,e.z,n.z,0,0,0,0,1),this}extractRotation(t){if(t.determinantAffine()===0)return this.identity();let e=this.elements,n=t.elements,s=1/qr.setFromMatrixColumn(t,0).length(),r=1/qr.setFromMatrixColumn(t,1).length(),o=1/qr.setFromMatrixColumn(t,2).length();return e[0]=n[0]*s,e[1]=n[1]*s,e[2]=n[2]*s,e[3]=0,e[4]=n[4]*r,e[5]=n[5]*r,e[6]=n[6]*r,e[7]=0,e[8]=n[8]*o,e[9]=n[9]*o,e[10]=n[10]*o,e[11]=0,e[12]=0,e[13]=0,e[14]=0,e[15]=1,this}makeRotationFromEuler(t){let e=this.elements,n=t.x,s=t.y,r=t.z,o=Math.cos(n),a=Math.sin(n),l=Math.cos(s),c=Math.sin(s),h=Math.cos(r),d=Math.sin(r);if(t.order==="XYZ"){let u=o*h,f=o*d,g=a*h,y=a*d;e[0]=l*h,e[4]=-l*d,e[8]=c,e[1]=f+g*c,e[5]=u-y*c,e[9]=-a*l,e[2]=y-u*c,e[6]=g+f*c,e[10]=o*l}else if(t.order==="YXZ"){let u=l*h,f=l*d,g=c*h,y=c*d;e[0]=u+y*a,e[4]=g*a-f,e[8]=o*c,e[1]=o*d,e[5]=o*h,e[9]=-a,e[2]=f*a-g,e[6]=y+u*a,e[10]=o*l}else if(t.order==="ZXY"){let u=l*h,f=l*d,g=c*h,y=c*d;e[0]=u-y*a,e[4]=-o*d,e[8]=g+f*a,e[1]=f+g*a,e[5]=o*h,e[9]=y-u*a,e[2]=-o*c,e[6]=a,e[10]=o*l}else if(t.order==="ZYX"){let u=o*h,f=o*d,g=a*h,y=a*d;e[0]=l*h,e[4]=g*c-f,e[8]=u*c+y,e[1]=l*d,e[5]=y*c+u,e[9]=f*c-g,e[2]=-c,e[6]=a*l,e[10]=o*l}else if(t.order==="YZX"){let u=o*l,f=o*c,g=a*l,y=a*c;e[0]=l*h,e[4]=y-u*d,e[8]=g*d+f,e[1]=d,e[5]=o*h,e[9]=-a*h,e[2]=-c*h,e[6]=f*d+g,e[10]=u-y*d}else if(t.order==="XZY"){let u=o*l,f=o*c,g=a*l,y=a*c;e[0]=l*h,e[4]=-d,e[8]=c*h,e[1]=u*d+y,e[5]=o*h,e[9]=f*d-g,e[2]=g*d-f,e[6]=a*h,e[10]=y*d+u}return e[3]=0,e[7]=0,e[11]=0,e[12]=0,e[13]=0,e[14]=0,e[15]=1,this}makeRotationFromQuaternion(t){return this.compose(Zv,t,Jv)}lookAt(t,e,n){let s=this.elements;return oi.subVectors(t,e),oi.lengthSq()===0&&(oi.z=1),oi.normalize(),Us.crossVectors(n,oi),Us.lengthSq()===0&&(Math.abs(n.z)===1?oi.x+=1e-4:oi.z+=1e-4,oi.normalize(),Us.crossVectors(n,oi)),Us.normalize(),Tl.crossVectors(oi,Us),s[0]=Us.x,s[4]=Tl.x,s[8]=oi.x,s[1]=Us.y,s[5]=Tl.y,s[9]=oi.y,s[2]=Us.z,s[6]=Tl.z,s[10]=oi.z,this}multiply(t){return this.multiplyMatrices(this,t)}premultiply(t){return this.multiplyMatrices(t,this)}multiplyMatrices(t,e){let n=t.elements,s=e.elements,r=this.elements,o=n[0],a=n[4],l=n[8],c=n[12],h=n[1],d=n[5],u=n[9],f=n[13],g=n[2],y=n[6],m=n[10],p=n[14],v=n[3],T=n[7],M=n[11],P=n[15],E=s[0],x=s[4],A=s[8],k=s[12],N=s[1],D=s[5],z=s[9],H=s[13],L=s[2],W=s[6],Y=s[10],G=s[14],lt=s[3],$=s[7],j=s[11],it=s[15];return r[0]=o*E+a*N+l*L+c*lt,r[4]=o*x+a*D+l*W+c*$,r[8]=o*A+a*z+l*Y+c*j,r[12]=o*k+a*H+l*G+c*it,r[1]=h*E+d*N+u*L+f*lt,r[5]=h*x+d*D+u*W+f*$,r[9]=h*A+d*z+u*Y+f*j,r[13]=h*k+d*H+u*G+f*it,r[2]=g*E+y*N+m*L+p*lt,r[6]=g*x+y*D+m*W+p*$,r[10]=g*A+y*z+m*Y+p*j,r[14]=g*k+y*H+m*G+p*it,r[3]=v*E+T*N+M*L+P*lt,r[7]=v*x+T*D+M*W+P*$,r[11]=v*A+T*z+M*Y+P*j,r[15]=v*k+T*H+M*G+P*it,this}multiplyScalar(t){let e=this.elements;return e[0]*=t,e[4]*=t,e[8]*=t,e[12]*=t,e[1]*=t,e[5]*=t,e[9]*=t,e[13]*=t,e[2]*=t,e[6]*=t,e[10]*=t,e[14]*=t,e[3]*=t,e[7]*=t,e[11]*=t,e[15]*=t,this}determinant(){let t=this.elements,e=t[0],n=t[4],s=t[8],r=t[12],o=t[1],a=t[5],l=t[9],c=t[13],h=t[2],d=t[6],u=t[10],f=t[14],g=t[3],y=t[7],m=t[11],p=t[15],v=l*f-c*u,T=a*f-c*d,M=a*u-l*d,P=o*f-c*h,E=o*u-l*h,x=o*d-a*h;return e*(y*v-m*T+p*M)-n*(g*v-m*P+p*E)+s*(g*T-y*P+p*x)-r*(g*M-y*E+m*x)}determinantAffine(){let t=this.elements,e=t[0],n=t[4],s=t[8],r=t[1],o=t[5],a=t[9],l=t[2],c=t[6],h=t[10];return e*(o*h-a*c)-n*(r*h-a*l)+s*(r*c-o*l)}transpose(){let t=this.elements,e;return e=t[1],t[1]=t[4],t[4]=e,e=t[2],t[2]=t[8],t[8]=e,e=t[6],t[6]=t[9],t[9]=e,e=t[3],t[3]=t[12],t[12]=e,e=t[7],t[7]=t[13],t[13]=e,e=t[11],t[11]=t[14],t[14]=e,this}setPosition(t,e,n){let s=this.elements;return t.isVector3?(s[12]=t.x,s[13]=t.y,s[14]=t.z):(s[12]=t,s[13]=e,s[14]=n),this}invert(){let t=this.elements,e=t[0],n=t[1],s=t[2],r=t[3],o=t[4],a=t[5],l=t[6],c=t[7],h=t[8],d=t[9],u=t[10],f=t[11],g=t[12],y=t[13],m=t[14],p=t[15],v=e*a-n*o,T=e*l-s*o,M=e*c-r*o,P=n*l-s*a,E=n*c-r*a,x=s*c-r*l,A=h*y-d*g,k=h*m-u*g,N=h*p-f*g,D=d*m-u*y,z=d*p-f*y,H=u*p-f*m,L=v*H-T*z+M*D+P*N-E*k+x*A;if(L===0)return this.set(0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0);let W=1/L;return t[0]=(a*H-l*z+c*D)*W,t[1]=(s*z-n*H-r*D)*W,t[2]=(y*x-m*E+p*P)*W,t[3]=(u*E-d*x-f*P)*W,t[4]=(l*N-o*H-c*k)*W,t[5]=(e*H-s*N+r*k)*W,t[6]=(m*M-g*x-p*T)*W,t[7]=(h*x-u*M+f*T)*W,t[8]=(o*z-a*N+c*A)*W,t[9]=(n*N-e*z-r*A)*W,t[10]=(g*E-y*M+p*v)*W,t[11]=(d*M-h*E-f*v)*W,t[12]=(a*k-o*D-l*A)*W,t[13]=(e*D-n*k+s*A)*W,t[14]=(y*T-g*P-m*v)*W,t[15]=(h*P-d*T+u*v)*W,this}scale(t){let e=this.elements,n=t.x,s=t.y,r=t.z;return e[0]*=n,e[4]*=s,e[8]*=r,e[1]*=n,e[5]*=s,e[9]*=r,e[2]*=n,e[6]*=s,e[10]*=r,e[3]*=n,e[7]*=s,e[11]*=r,this}getMaxScaleOnAxis(){let t=this.elements,e=t[0]*t[0]+t[1]*t[1]+t[2]*t[2],n=t[4]*t[4]+t[5]*t[5]+t[6]*t[6],s=t[8]*t[8]+t[9]*t[9]+t[10]*t[10];return Math.sqrt(Math.max(e,n,s))}makeTranslation(t,e,n){return t.isVector3?this.set(1,0,0,t.x,0,1,0,t.y,0,0,1,t.z,0,0,0,1):this.set(1,0,0,t,0,1,0,e,0,0,1,n,0,0,0,1),this}makeRotationX(t){let e=Math.cos(t),n=Math.sin(t);return this.set(1,0,0,0,0,e,-n,0,0,n,e,0,0,0,0,1),this}makeRotationY(t){let e=Math.cos(t),n=Math.sin(t);return this.set(e,0,n,0,0,1,0,0,-n,0,e,0,0,0,0,1),this}makeRotationZ(t){let e=Math.cos(t),n=Math.sin(t);return this.set(e,-n,0,0,n,e,0,0,0,0,1,0,0,0,0,1),this}makeRotationAxis(t,e){let n=Math.cos(e),s=Math.sin(e),r=1-n,o=t.x,a=t.y,l=t.z,c=r*o,h=r*a;return this.set(c*o+n,c*a-s*l,c*l+s*a,0,c*a+s*l,h*a+n,h*l-s*o,0,c*l-s*a,h*l+s*o,r*l*l+n,0,0,0,0,1),this}makeScale(t,e,n){return this.set(t,0,0,0,0,e,0,0,0,0,n,0,0,0,0,1),this}makeShear(t,e,n,s,r,o){return this.set(1,n,r,0,t,1,o,0,e,s,1,0,0,0,0,1),this}compose(t,e,n){let s=this.elements,r=e._x,o=e._y,a=e._z,l=e._w,c=r+r,h=o+o,d=a+a,u=r*c,f=r*h,g=r*d,y=o*h,m=o*d,p=a*d,v=l*c,T=l*h,M=l*d,P=n.x,E=n.y,x=n.z;return s[0]=(1-(y+p))*P,s[1]=(f+M)*P,s[2]=(g-T)*P,s[3]=0,s[4]=(f-M)*E,s[5]=(1-(u+p))*E,s[6]=(m+v)*E,s[7]=0,s[8]=(g+T)*x,s[9]=(m-v)*x,s[10]=(1-(u+y))*x,s[11]=0,s[12]=t.x,s[13]=t.y,s[14]=t.z,s[15]=1,this}decompose(t,e,n){let s=this.elements;t.x=s[12],t.y=s[13],t.z=s[14];let r=this.determinantAffine();if(r===0)return n.set(1,1,1),e.identity(),this;let o=qr.set(s[0],s[1],s[2]).length(),a=qr.set(s[4],s[5],s[6]).length(),l=qr.set(s[8],s[9],s[10]).length();r<0&&(o=-o),Ii.copy(this);let c=1/o,h=1/a,d=1/l;return Ii.elements[0]*=c,Ii.elements[1]*=c,Ii.elements[2]*=c,Ii.elements[4]*=h,Ii.elements[5]*=h,Ii.elements[6]*=h,Ii.elements[8]*=d,Ii.elements[9]*=d,Ii.elements[10]*=d,e.setFromRotationMatrix(Ii),n.x=o,n.y=a,n.z=l,this}makePerspective(t,e,n,s,r,o,a=yi,l=!1){let c=this.elements,h=2*r/(e-t),d=2*r/(n-s),u=(e+t)/(e-t),f=(n+s)/(n-s),g,y;if(l)g=r/(o-r),y=o*r/(o-r);else if(a===yi)g=-(o+r)/(o-r),y=-2*o*r/(o-r);else if(a===co)g=-o/(o-r),y=-o*r/(o-r);else throw new Error("THREE.Matrix4.makePerspective(): Invalid coordinate system: "+a);return c[0]=h,c[4]=0,c[8]=u,c[12]=0,c[1]=0,c[5]=d,c[9]=f,c[13]=0,c[2]=0,c[6]=0,c[10]=g,c[14]=y,c[3]=0,c[7]=0,c[11]=-1,c[15]=0,this}makeOrthographic(t,e,n,s,r,o,a=yi,l=!1){let c=this.elements,h=2/(e-t),d=2/(n-s),u=-(e+t)/(e-t),f=-(n+s)/(n-s),g,y;if(l)g=1/(o-r),y=o/(o-r);else if(a===yi)g=-2/(o-r),y=-(o+r)/(o-r);else if(a===co)g=-1/(o-r),y=-r/(o-r);else throw new Error("THREE.Matrix4.makeOrthographic(): Invalid coordinate system: "+a);return c[0]=h,c[4]=0,c[8]=0,c[12]=u,c[1]=0,c[5]=d,c[9]=0,c[13]=f,c[2]=0,c[6]=0,c[10]=g,c[14]=y,c[3]=0,c[7]=0,c[11]=0,c[15]=1,this}equals(t){let e=this.elements,n=t.elements;for(let s=0;s<16;s++)if(e[s]!==n[s])return!1;return!0}fromArray(t,e=0){for(let n=0;n<16;n++)this.elements[n]=t[n+e];return this}toArray(t=[],e=0){let n=this.elements;return t[e]=n[0],t[e+1]=n[1],t[e+2]=n[2],t[e+3]=n[3],t[e+4]=n[4],t[e+5]=n[5],t[e+6]=n[6],t[e+7]=n[7],t[e+8]=n[8],t[e+9]=n[9],t[e+10]=n[10],t[e+11]=n[11],t[e+12]=n[12],t[e+13]=n[13],t[e+14]=n[14],t[e+15]=n[15],t}},qr=new O,Ii=new ye,Zv=new O(0,0,0),Jv=new O(1,1,1),Us=new O,Tl=new O,oi=new O,km=new ye,zm=new Fn,vs=class i{constructor(t=0,e=0,n=0,s=i.DEFAULT_ORDER){this.isEuler=!0,this._x=t,this._y=e,this._z=n,this._order=s}get x(){return this._x}set x(t){this._x=t,this._onChangeCallback()}get y(){return this._y}set y(t){this._y=t,this._onChangeCallback()}get z(){return this._z}set z(t){this._z=t,this._onChangeCallback()}get order(){return this._order}set order(t){this._order=t,this._onChangeCallback()}set(t,e,n,s=this._order){return this._x=t,this._y=e,this._z=n,this._order=s,this._onChangeCallback(),this}clone(){return new this.constructor(this._x,this._y,this._z,this._order)}copy(t){return this._x=t._x,this._y=t._y,this._z=t._z,this._order=t._order,this._onChangeCallback(),this}setFromRotationMatrix(t,e=this._order,n=!0){let s=t.elements,r=s[0],o=s[4],a=s[8],l=s[1],c=s[5],h=s[9],d=s[2],u=s[6],f=s[10];switch(e){case"XYZ":this._y=Math.asin(ie(a,-1,1)),Math.abs(a)<.9999999?(this._x=Math.atan2(-h,f),this._z=Math.atan2(-o,r)):(this._x=Math.atan2(u,c),this._z=0);break;case"YXZ":this._x=Math.asin(-ie(h,-1,1)),Math.abs(h)<.9999999?(this._y=Math.atan2(a,f),this._z=Math.atan2(l,c)):(this._y=Math.atan2(-d,r),this._z=0);break;case"ZXY":this._x=Math.asin(ie(u,-1,1)),Math.abs(u)<.9999999?(this._y=Math.atan2(-d,f),this._z=Math.atan2(-o,c)):(this._y=0,this._z=Math.atan2(l,r));break;case"ZYX":this._y=Math.asin(-ie(d,-1,1)),Math.abs(d)<.9999999?(this._x=Math.atan2(u,f),this._z=Math.atan2(l,r)):(this._x=0,this._z=Math.atan2(-o,c));break;case"YZX":this._z=Math.asin(ie(l,-1,1)),Math.abs(l)<.9999999?(this._x=Math.atan2(-h,c),this._y=Math.atan2(-d,r)):(this._x=0,this._y=Math.atan2(a,f));break;case"XZY":this._z=Math.asin(-ie(o,-1,1)),Math.abs(o)<.9999999?(this._x=Math.atan2(u,c),this._y=Math.atan2(a,r)):(this._x=Math.atan2(-h,f),this._y=0);break;default:qt("Euler: .setFromRotationMatrix() encountered an unknown order: "+e)}return this._order=e,n===!0&&this._onChangeCallback(),this}setFromQuaternion(t,e,n){return km.makeRotationFromQuaternion(t),this.setFromRotationMatrix(km,e,n)}setFromVector3(t,e=this._order){return this.set(t.x,t.y,t.z,e)}reorder(t){return zm.setFromEuler(this),this.setFromQuaternion(zm,t)}equals(t){return t._x===this._x&&t._y===this._y&&t._z===this._z&&t._order===this._order}fromArray(t){return this._x=t[0],this._y=t[1],this._z=t[2],t[3]!==void 0&&(this._order=t[3]),this._onChangeCallback(),this}toArray(t=[],e=0){return t[e]=this._x,t[e+1]=this._y,t[e+2]=this._z,t[e+3]=this._order,t}_onChange(t){return this._onChangeCallback=t,this}_onChangeCallback(){}*[Symbol.iterator](){yield this._x,yield this._y,yield this._z,yield this._order}};vs.DEFAULT_ORDER="XYZ";var ha=class{constructor(){this.mask=1}set(t){this.mask=(1<<t|0)>>>0}enable(t){this.mask|=1<<t|0}enableAll(){this.mask=-1}toggle(t){this.mask^=1<<t|0}disable(t){this.mask&=~(1<<t|0)}disableAll(){this.mask=0}test(t){return(this.mask&t.mask)!==0}isEnabled(t){return(this.mask&(1<<t|0))!==0}},$v=0,Vm=new O,Yr=new Fn,ds=new ye,Cl=new O,Zo=new O,Kv=new O,jv=new Fn,Gm=new O(1,0,0),Hm=new O(0,1,0),Wm=new O(0,0,1),Xm={type:"added"},Qv={type:"removed"},Zr={type:"childadded",child:null},Xu={type:"childremoved",child:null},Tn=class i extends ji{constructor(){super(),this.isObject3D=!0,Object.defineProperty(this,"id",{value:$v++}),this.uuid=Js(),this.name="",this.type="Object3D",this.parent=null,this.children=[],this.up=i.DEFAULT_UP.clone();let t=new O,e=new vs,n=new Fn,s=new O(1,1,1);function r(){n.setFromEuler(e,!1)}function o(){e.setFromQuaternion(n,void 0,!1)}e._onChange(r),n._onChange(o),Object.defineProperties(this,{position:{configurable:!0,enumerable:!0,value:t},rotation:{configurable:!0,enumerable:!0,value:e},quaternion:{configurable:!0,enumerable:!0,value:n},scale:{configurable:!0,enumerable:!0,value:s},modelViewMatrix:{value:new ye},normalMatrix:{value:new te}}),this.matrix=new ye,this.matrixWorld=new ye,this.matrixAutoUpdate=i.DEFAULT_MATRIX_AUTO_UPDATE,this.matrixWorldAutoUpdate=i.DEFAULT_MATRIX_WORLD_AUTO_UPDATE,this.matrixWorldNeedsUpdate=!1,this.layers=new ha,this.visible=!0,this.castShadow=!1,this.receiveShadow=!1,this.frustumCulled=!0,this.renderOrder=0,this.animations=[],this.customDepthMaterial=void 0,this.customDistanceMaterial=void 0,this.static=!1,this.userData={},this.pivot=null}onBeforeShadow(){}onAfterShadow(){}onBeforeRender(){}onAfterRender(){}applyMatrix4(t){this.matrixAutoUpdate&&this.updateMatrix(),this.matrix.premultiply(t),this.matrix.decompose(this.position,this.quaternion,this.scale),this.pivot!==null&&this.position.copy(this.pivot).applyMatrix4(this.matrix).sub(this.pivot)}applyQuaternion(t){return this.quaternion.premultiply(t),this}setRotationFromAxisAngle(t,e){this.quaternion.setFromAxisAngle(t,e)}setRotationFromEuler(t){this.quaternion.setFromEuler(t,!0)}setRotationFromMatrix(t){this.quaternion.setFromRotationMatrix(t)}setRotationFromQuaternion(t){this.quaternion.copy(t)}rotateOnAxis(t,e){return Yr.setFromAxisAngle(t,e),this.quaternion.multiply(Yr),this}rotateOnWorldAxis(t,e){return Yr.setFromAxisAngle(t,e),this.quaternion.premultiply(Yr),this}rotateX(t){return this.rotateOnAxis(Gm,t)}rotateY(t){return this.rotateOnAxis(Hm,t)}rotateZ(t){return this.rotateOnAxis(Wm,t)}translateOnAxis(t,e){return Vm.copy(t).applyQuaternion(this.quaternion),this.position.add(Vm.multiplyScalar(e)),this}translateX(t){return this.translateOnAxis(Gm,t)}translateY(t){return this.translateOnAxis(Hm,t)}translateZ(t){return this.translateOnAxis(Wm,t)}localToWorld(t){return this.updateWorldMatrix(!0,!1),t.applyMatrix4(this.matrixWorld)}worldToLocal(t){return this.updateWorldMatrix(!0,!1),t.applyMatrix4(ds.copy(this.matrixWorld).invert())}lookAt(t,e,n){t.isVector3?Cl.copy(t):Cl.set(t,e,n);let s=this.parent;this.updateWorldMatrix(!0,!1),Zo.setFromMatrixPosition(this.matrixWorld),this.isCamera||this.isLight?ds.lookAt(Zo,Cl,this.up):ds.lookAt(Cl,Zo,this.up),this.quaternion.setFromRotationMatrix(ds),s&&(ds.extractRotation(s.matrixWorld),Yr.setFromRotationMatrix(ds),this.quaternion.premultiply(Yr.invert()))}add(t){if(arguments.length>1){for(let e=0;e<arguments.length;e++)this.add(arguments[e]);return this}return t===this?(Qt("Object3D.add: object can't be added as a child of itself.",t),this):(t&&t.isObject3D?(t.removeFromParent(),t.parent=this,this.children.push(t),t.dispatchEvent(Xm),Zr.child=t,this.dispatchEvent(Zr),Zr.child=null):Qt("Object3D.add: object not an instance of THREE.Object3D.",t),this)}remove(t){if(arguments.length>1){for(let n=0;n<arguments.length;n++)this.remove(arguments[n]);return this}let e=this.children.indexOf(t);return e!==-1&&(t.parent=null,this.children.splice(e,1),t.dispatchEvent(Qv),Xu.child=t,this.dispatchEvent(Xu),Xu.child=null),this}removeFromParent(){let t=this.parent;return t!==null&&t.remove(this),this}clear(){return this.remove(...this.children)}attach(t){return this.updateWorldMatrix(!0,!1),ds.copy(this.matrixWorld).invert(),t.parent!==null&&(t.parent.updateWorldMatrix(!0,!1),ds.multiply(t.parent.matrixWorld)),t.applyMatrix4(ds),t.removeFromParent(),t.parent=this,this.children.push(t),t.updateWorldMatrix(!1,!0),t.dispatchEvent(Xm),Zr.child=t,this.dispatchEvent(Zr),Zr.child=null,this}getObjectById(t){return this.getObjectByProperty("id",t)}getObjectByName(t){return this.getObjectByProperty("name",t)}getObjectByProperty(t,e){if(this[t]===e)return this;for(let n=0,s=this.children.length;n<s;n++){let o=this.children[n].getObjectByProperty(t,e);if(o!==void 0)return o}}getObjectsByProperty(t,e,n=[]){this[t]===e&&n.push(this);let s=this.children;for(let r=0,o=s.length;r<o;r++)s[r].getObjectsByProperty(t,e,n);return n}getWorldPosition(t){return this.updateWorldMatrix(!0,!1),t.setFromMatrixPosition(this.matrixWorld)}getWorldQuaternion(t){return this.updateWorldMatrix(!0,!1),this.matrixWorld.decompose(Zo,t,Kv),t}getWorldScale(t){return this.updateWorldMatrix(!0,!1),this.matrixWorld.decompose(Zo,jv,t),t}getWorldDirection(t){this.updateWorldMatrix(!0,!1);let e=this.matrixWorld.elements;return t.set(e[8],e[9],e[10]).normalize()}raycast(){}intersectsFrustum(){return!0}traverse(t){t(this);let e=this.children;for(let n=0,s=e.length;n<s;n++)e[n].traverse(t)}traverseVisible(t){if(this.visible===!1)return;t(this);let e=this.children;for(let n=0,s=e.length;n<s;n++)e[n].traverseVisible(t)}traverseAncestors(t){let e=this.parent;e!==null&&(t(e),e.traverseAncestors(t))}updateMatrix(){this.matrix.compose(this.position,this.quaternion,this.scale);let t=this.pivot;if(t!==null){let e=t.x,n=t.y,s=t.z,r=this.matrix.elements;r[12]+=e-r[0]*e-r[4]*n-r[8]*s,r[13]+=n-r[1]*e-r[5]*n-r[9]*s,r[14]+=s-r[2]*e-r[6]*n-r[10]*s}this.matrixWorldNeedsUpdate=!0}updateMatrixWorld(t){this.matrixAutoUpdate&&this.updateMatrix(),(this.matrixWorldNeedsUpdate||t)&&(this.matrixWorldAutoUpdate===!0&&(this.parent===null?this.matrixWorld.copy(this.matrix):this.matrixWorld.multiplyMatrices(this.parent.matrixWorld,this.matrix)),this.matrixWorldNeedsUpdate=!1,t=!0);let e=this.children;for(let n=0,s=e.length;n<s;n++)e[n].updateMatrixWorld(t)}updateWorldMatrix(t,e,n=!1){let s=this.parent;if(t===!0&&s!==null&&s.updateWorldMatrix(!0,!1),this.matrixAutoUpdate&&this.updateMatrix(),(this.matrixWorldNeedsUpdate||n)&&(this.matrixWorldAutoUpdate===!0&&(this.parent===null?this.matrixWorld.copy(this.matrix):this.matrixWorld.multiplyMatrices(this.parent.matrixWorld,this.matrix)),this.matrixWorldNeedsUpdate=!1,n=!0),e===!0){let r=this.children;for(let o=0,a=r.length;o<a;o++)r[o].updateWorldMatrix(!1,!0,n)}}toJSON(t){let e=t===void 0||typeof t=="string",n={};e&&(t={geometries:{},materials:{},textures:{},images:{},shapes:{},skeletons:{},animations:{},nodes:{}},n.metadata={version:4.7,type:"Object",generator:"Object3D.toJSON"});let s={};s.uuid=this.uuid,s.type=this.type,s.name=this.name,s.castShadow=this.castShadow,s.receiveShadow=this.receiveShadow,s.visible=this.visible,s.frustumCulled=this.frustumCulled,s.renderOrder=this.renderOrder,s.static=this.static,s.matrixAutoUpdate=this.matrixAutoUpdate,Object.keys(this.userData).length>0&&(s.userData=this.userData),s.layers=this.layers.mask,s.matrix=this.matrix.toArray(),s.up=this.up.toArray(),this.pivot!==null&&(s.pivot=this.pivot.toArray()),this.morphTargetDictionary!==void 0&&(s.morphTargetDictionary=Object.assign({},this.morphTargetDictionary)),this.morphTargetInfluences!==void 0&&(s.morphTargetInfluences=this.morphTargetInfluences.slice()),this.isInstancedMesh&&(s.type="InstancedMesh",s.count=this.count,s.instanceMatrix=this.instanceMatrix.toJSON(),this.instanceColor!==null&&(s.instanceColor=this.instanceColor.toJSON())),this.isBatchedMesh&&(s.type="BatchedMesh",s.perObjectFrustumCulled=this.perObjectFrustumCulled,s.sortObjects=this.sortObjects,s.drawRanges=this._drawRanges,s.reservedRanges=this._reservedRanges,s.geometryInfo=this._geometryInfo.map(a=>({...a,boundingBox:a.boundingBox?a.boundingBox.toJSON():void 0,boundingSphere:a.boundingSphere?a.boundingSphere.toJSON():void 0})),s.instanceInfo=this._instanceInfo.map(a=>({...a})),s.availableInstanceIds=this._availableInstanceIds.slice(),s.availableGeometryIds=this._availableGeometryIds.slice(),s.nextIndexStart=this._nextIndexStart,s.nextVertexStart=this._nextVertexStart,s.geometryCount=this._geometryCount,s.maxInstanceCount=this._maxInstanceCount,s.maxVertexCount=this._maxVertexCount,s.maxIndexCount=this._maxIndexCount,s.geometryInitialized=this._geometryInitialized,s.matricesTexture=this._matricesTexture.toJSON(t),s.indirectTexture=this._indirectTexture.toJSON(t),this._colorsTexture!==null&&(s.colorsTexture=this._colorsTexture.toJSON(t)),this.boundingSphere!==null&&(s.boundingSphere=this.boundingSphere.toJSON()),this.boundingBox!==null&&(s.boundingBox=this.boundingBox.toJSON()));function r(a,l){return a[l.uuid]===void 0&&(a[l.uuid]=l.toJSON(t)),l.uuid}if(this.isScene)this.background&&(this.background.isColor?s.background=this.background.toJSON():this.background.isTexture&&(s.background=this.background.toJSON(t).uuid)),this.environment&&this.environment.isTexture&&this.environment.isRenderTargetTexture!==!0&&(s.environment=this.environment.toJSON(t).uuid);else if(this.isMesh||this.isLine||this.isPoints){s.geometry=r(t.geometries,this.geometry);let a=this.geometry.parameters;if(a!==void 0&&a.shapes!==void 0){let l=a.shapes;if(Array.isArray(l))for(let c=0,h=l.length;c<h;c++){let d=l[c];r(t.shapes,d)}else r(t.shapes,l)}}if(this.isSkinnedMesh&&(s.bindMode=this.bindMode,s.bindMatrix=this.bindMatrix.toArray(),this.skeleton!==void 0&&(r(t.skeletons,this.skeleton),s.skeleton=this.skeleton.uuid)),this.material!==void 0)if(Array.isArray(this.material)){let a=[];for(let l=0,c=this.material.length;l<c;l++)a.push(r(t.materials,this.material[l]));s.material=a}else s.material=r(t.materials,this.material);if(this.children.length>0){s.children=[];for(let a=0;a<this.children.length;a++)s.children.push(this.children[a].toJSON(t).object)}if(this.animations.length>0){s.animations=[];for(let a=0;a<this.animations.length;a++){let l=this.animations[a];s.animations.push(r(t.animations,l))}}if(e){let a=o(t.geometries),l=o(t.materials),c=o(t.textures),h=o(t.images),d=o(t.shapes),u=o(t.skeletons),f=o(t.animations),g=o(t.nodes);a.length>0&&(n.geometries=a),l.length>0&&(n.materials=l),c.length>0&&(n.textures=c),h.length>0&&(n.images=h),d.length>0&&(n.shapes=d),u.length>0&&(n.skeletons=u),f.length>0&&(n.animations=f),g.length>0&&(n.nodes=g)}return n.object=s,n;function o(a){let l=[];for(let c in a){let h=a[c];delete h.metadata,l.push(h)}return l}}clone(t){return new this.constructor().copy(this,t)}copy(t,e=!0){if(this.name=t.name,this.up.copy(t.up),this.position.copy(t.position),this.rotation.order=t.rotation.order,this.quaternion.copy(t.quaternion),this.scale.copy(t.scale),this.pivot=t.pivot!==null?t.pivot.clone():null,this.matrix.copy(t.matrix),this.matrixWorld.copy(t.matrixWorld),this.matrixAutoUpdate=t.matrixAutoUpdate,this.matrixWorldAutoUpdate=t.matrixWorldAutoUpdate,this.matrixWorldNeedsUpdate=t.matrixWorldNeedsUpdate,this.layers.mask=t.layers.mask,this.visible=t.visible,this.castShadow=t.castShadow,this.receiveShadow=t.receiveShadow,this.frustumCulled=t.frustumCulled,this.renderOrder=t.renderOrder,this.static=t.static,this.animations=t.animations.slice(),this.userData=JSON.parse(JSON.stringify(t.userData)),e===!0)for(let n=0;n<t.children.length;n++){let s=t.children[n];this.add(s.clone())}return this}dispose(){this.dispatchEvent({type:"dispose"})}};Tn.DEFAULT_UP=new O(0,1,0);Tn.DEFAULT_MATRIX_AUTO_UPDATE=!0;Tn.DEFAULT_MATRIX_WORLD_AUTO_UPDATE=!0;var be=class extends Tn{constructor(){super(),this.isGroup=!0,this.type="Group"}},ty={type:"move"},po=class{constructor(){this._targetRay=null,this._grip=null,this._hand=null}getHandSpace(){return this._hand===null&&(this._hand=new be,this._hand.matrixAutoUpdate=!1,this._hand.visible=!1,this._hand.joints={},this._hand.inputState={pinching:!1}),this._hand}getTargetRaySpace(){return this._targetRay===null&&(this._targetRay=new be,this._targetRay.matrixAutoUpdate=!1,this._targetRay.visible=!1,this._targetRay.hasLinearVelocity=!1,this._targetRay.linearVelocity=new O,this._targetRay.hasAngularVelocity=!1,this._targetRay.angularVelocity=new O),this._targetRay}getGripSpace(){return this._grip===null&&(this._grip=new be,this._grip.matrixAutoUpdate=!1,this._grip.visible=!1,this._grip.hasLinearVelocity=!1,this._grip.linearVelocity=new O,this._grip.hasAngularVelocity=!1,this._grip.angularVelocity=new O,this._grip.eventsEnabled=!1),this._grip}dispatchEvent(t){return this._targetRay!==null&&this._targetRay.dispatchEvent(t),this._grip!==null&&this._grip.dispatchEvent(t),this._hand!==null&&this._hand.dispatchEvent(t),this}connect(t){if(t&&t.hand){let e=this._hand;if(e)for(let n of t.hand.values())this._getHandJoint(e,n)}return this.dispatchEvent({type:"connected",data:t}),this}disconnect(t){return this.dispatchEvent({type:"disconnected",data:t}),this._targetRay!==null&&(this._targetRay.visible=!1),this._grip!==null&&(this._grip.visible=!1),this._hand!==null&&(this._hand.visible=!1),this}update(t,e,n){let s=null,r=null,o=null,a=this._targetRay,l=this._grip,c=this._hand;if(t&&e.session.visibilityState!=="visible-blurred"){if(c&&t.hand){o=!0;for(let y of t.hand.values()){let m=e.getJointPose(y,n),p=this._getHandJoint(c,y);m!==null&&(p.matrix.fromArray(m.transform.matrix),p.matrix.decompose(p.position,p.quaternion,p.scale),p.matrixWorldNeedsUpdate=!0,p.jointRadius=m.radius),p.visible=m!==null}let h=c.joints["index-finger-tip"],d=c.joints["thumb-tip"],u=h.position.distanceTo(d.position),f=.02,g=.005;c.inputState.pinching&&u>f+g?(c.inputState.pinching=!1,this.dispatchEvent({type:"pinchend",handedness:t.handedness,target:this})):!c.inputState.pinching&&u<=f-g&&(c.inputState.pinching=!0,this.dispatchEvent({type:"pinchstart",handedness:t.handedness,target:this}))}else l!==null&&t.gripSpace&&(r=e.getPose(t.gripSpace,n),r!==null&&(l.matrix.fromArray(r.transform.matrix),l.matrix.decompose(l.position,l.quaternion,l.scale),l.matrixWorldNeedsUpdate=!0,r.linearVelocity?(l.hasLinearVelocity=!0,l.linearVelocity.copy(r.linearVelocity)):l.hasLinearVelocity=!1,r.angularVelocity?(l.hasAngularVelocity=!0,l.angularVelocity.copy(r.angularVelocity)):l.hasAngularVelocity=!1,l.eventsEnabled&&l.dispatchEvent({type:"gripUpdated",data:t,target:this})));a!==null&&(s=e.getPose(t.targetRaySpace,n),s===null&&r!==null&&(s=r),s!==null&&(a.matrix.fromArray(s.transform.matrix),a.matrix.decompose(a.position,a.quaternion,a.scale),a.matrixWorldNeedsUpdate=!0,s.linearVelocity?(a.hasLinearVelocity=!0,a.linearVelocity.copy(s.linearVelocity)):a.hasLinearVelocity=!1,s.angularVelocity?(a.hasAngularVelocity=!0,a.angularVelocity.copy(s.angularVelocity)):a.hasAngularVelocity=!1,this.dispatchEvent(ty)))}return a!==null&&(a.visible=s!==null),l!==null&&(l.visible=r!==null),c!==null&&(c.visible=o!==null),this}_getHandJoint(t,e){if(t.joints[e.jointName]===void 0){let n=new be;n.matrixAutoUpdate=!1,n.visible=!1,t.joints[e.jointName]=n,t.add(n)}return t.joints[e.jointName]}},$g={aliceblue:15792383,antiquewhite:16444375,aqua:65535,aquamarine:8388564,azure:15794175,beige:16119260,bisque:16770244,black:0,blanchedalmond:16772045,blue:255,blueviolet:9055202,brown:10824234,burlywood:14596231,cadetblue:6266528,chartreuse:8388352,chocolate:13789470,coral:16744272,cornflowerblue:6591981,cornsilk:16775388,crimson:14423100,cyan:65535,darkblue:139,darkcyan:35723,darkgoldenrod:12092939,darkgray:11119017,darkgreen:25600,darkgrey:11119017,darkkhaki:12433259,darkmagenta:9109643,darkolivegreen:5597999,darkorange:16747520,darkorchid:10040012,darkred:9109504,darksalmon:15308410,darkseagreen:9419919,darkslateblue:4734347,darkslategray:3100495,darkslategrey:3100495,darkturquoise:52945,darkviolet:9699539,deeppink:16716947,deepskyblue:49151,dimgray:6908265,dimgrey:6908265,dodgerblue:2003199,firebrick:11674146,floralwhite:16775920,forestgreen:2263842,fuchsia:16711935,gainsboro:14474460,ghostwhite:16316671,gold:16766720,goldenrod:14329120,gray:8421504,green:32768,greenyellow:11403055,grey:8421504,honeydew:15794160,hotpink:16738740,indianred:13458524,indigo:4915330,ivory:16777200,khaki:15787660,lavender:15132410,lavenderblush:16773365,lawngreen:8190976,lemonchiffon:16775885,lightblue:11393254,lightcoral:15761536,lightcyan:14745599,lightgoldenrodyellow:16448210,lightgray:13882323,lightgreen:9498256,lightgrey:13882323,lightpink:16758465,lightsalmon:16752762,lightseagreen:2142890,lightskyblue:8900346,lightslategray:7833753,lightslategrey:7833753,lightsteelblue:11584734,lightyellow:16777184,lime:65280,limegreen:3329330,linen:16445670,magenta:16711935,maroon:8388608,mediumaquamarine:6737322,mediumblue:205,mediumorchid:12211667,mediumpurple:9662683,mediumseagreen:3978097,mediumslateblue:8087790,mediumspringgreen:64154,mediumturquoise:4772300,mediumvioletred:13047173,midnightblue:1644912,mintcream:16121850,mistyrose:16770273,moccasin:16770229,navajowhite:16768685,navy:128,oldlace:16643558,olive:8421376,olivedrab:7048739,orange:16753920,orangered:16729344,orchid:14315734,palegoldenrod:15657130,palegreen:10025880,paleturquoise:11529966,palevioletred:14381203,papayawhip:16773077,peachpuff:16767673,peru:13468991,pink:16761035,plum:14524637,powderblue:11591910,purple:8388736,rebeccapurple:6697881,red:16711680,rosybrown:12357519,royalblue:4286945,saddlebrown:9127187,salmon:16416882,sandybrown:16032864,seagreen:3050327,seashell:16774638,sienna:10506797,silver:12632256,skyblue:8900331,slateblue:6970061,slategray:7372944,slategrey:7372944,snow:16775930,springgreen:65407,steelblue:4620980,tan:13808780,teal:32896,thistle:14204888,tomato:16737095,turquoise:4251856,violet:15631086,wheat:16113331,white:16777215,whitesmoke:16119285,yellow:16776960,yellowgreen:10145074},Fs={h:0,s:0,l:0},Rl={h:0,s:0,l:0};function qu(i,t,e){return e<0&&(e+=1),e>1&&(e-=1),e<1/6?i+(t-i)*6*e:e<1/2?t:e<2/3?i+(t-i)*6*(2/3-e):i}var ce=class{constructor(t,e,n){return this.isColor=!0,this.r=1,this.g=1,this.b=1,this.set(t,e,n)}set(t,e,n){if(e===void 0&&n===void 0){let s=t;s&&s.isColor?this.copy(s):typeof s=="number"?this.setHex(s):typeof s=="string"&&this.setStyle(s)}else this.setRGB(t,e,n);return this}setScalar(t){return this.r=t,this.g=t,this.b=t,this}setHex(t,e=li){return t=Math.floor(t),this.r=(t>>16&255)/255,this.g=(t>>8&255)/255,this.b=(t&255)/255,_e.colorSpaceToWorking(this,e),this}setRGB(t,e,n,s=_e.workingColorSpace){return this.r=t,this.g=e,this.b=n,_e.colorSpaceToWorking(this,s),this}setHSL(t,e,n,s=_e.workingColorSpace){if(t=Gd(t,1),e=ie(e,0,1),n=ie(n,0,1),e===0)this.r=this.g=this.b=n;else{let r=n<=.5?n*(1+e):n+e-n*e,o=2*n-r;this.r=qu(o,r,t+1/3),this.g=qu(o,r,t),this.b=qu(o,r,t-1/3)}return _e.colorSpaceToWorking(this,s),this}setStyle(t,e=li){function n(r){r!==void 0&&parseFloat(r)<1&&qt("Color: Alpha component of "+t+" will be ignored.")}let s;if(s=/^(\w+)\(([^\)]*)\)/.exec(t)){let r,o=s[1],a=s[2];switch(o){case"rgb":case"rgba":if(r=/^\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*(?:,\s*(\d+(?:\.\d+)?|\.\d+)\s*)?$/.exec(a))return n(r[4]),this.setRGB(Math.min(255,parseInt(r[1],10))/255,Math.min(255,parseInt(r[2],10))/255,Math.min(255,parseInt(r[3],10))/255,e);if(r=/^\s*(\d+(?:\.\d+)?|\.\d+)\%\s*,\s*(\d+(?:\.\d+)?|\.\d+)\%\s*,\s*(\d+(?:\.\d+)?|\.\d+)\%\s*(?:,\s*(\d+(?:\.\d+)?|\.\d+)\s*)?$/.exec(a))return n(r[4]),this.setRGB(Math.min(100,parseFloat(r[1]))/100,Math.min(100,parseFloat(r[2]))/100,Math.min(100,parseFloat(r[3]))/100,e);break;case"hsl":case"hsla":if(r=/^\s*([+-]?(?:\d+(?:\.\d+)?|\.\d+))\s*,\s*(\d+(?:\.\d+)?|\.\d+)\%\s*,\s*(\d+(?:\.\d+)?|\.\d+)\%\s*(?:,\s*(\d+(?:\.\d+)?|\.\d+)\s*)?$/.exec(a))return n(r[4]),this.setHSL(parseFloat(r[1])/360,parseFloat(r[2])/100,parseFloat(r[3])/100,e);break;default:qt("Color: Unknown color model "+t)}}else if(s=/^\#([A-Fa-f\d]+)$/.exec(t)){let r=s[1],o=r.length;if(o===3)return this.setRGB(parseInt(r.charAt(0),16)/15,parseInt(r.charAt(1),16)/15,parseInt(r.charAt(2),16)/15,e);if(o===6)return this.setHex(parseInt(r,16),e);qt("Color: Invalid hex color "+t)}else if(t&&t.length>0)return this.setColorName(t,e);return this}setColorName(t,e=li){let n=$g[t.toLowerCase()];return n!==void 0?this.setHex(n,e):qt("Color: Unknown color "+t),this}clone(){return new this.constructor(this.r,this.g,this.b)}copy(t){return this.r=t.r,this.g=t.g,this.b=t.b,this}copySRGBToLinear(t){return this.r=_s(t.r),this.g=_s(t.g),this.b=_s(t.b),this}copyLinearToSRGB(t){return this.r=ao(t.r),this.g=ao(t.g),this.b=ao(t.b),this}convertSRGBToLinear(){return this.copySRGBToLinear(this),this}convertLinearToSRGB(){return this.copyLinearToSRGB(this),this}getHex(t=li){return _e.workingToColorSpace(Un.copy(this),t),Math.round(ie(Un.r*255,0,255))*65536+Math.round(ie(Un.g*255,0,255))*256+Math.round(ie(Un.b*255,0,255))}getHexString(t=li){return("000000"+this.getHex(t).toString(16)).slice(-6)}getHSL(t,e=_e.workingColorSpace){_e.workingToColorSpace(Un.copy(this),e);let n=Un.r,s=Un.g,r=Un.b,o=Math.max(n,s,r),a=Math.min(n,s,r),l,c,h=(a+o)/2;if(a===o)l=0,c=0;else{let d=o-a;switch(c=h<=.5?d/(o+a):d/(2-o-a),o){case n:l=(s-r)/d+(s<r?6:0);break;case s:l=(r-n)/d+2;break;case r:l=(n-s)/d+4;break}l/=6}return t.h=l,t.s=c,t.l=h,t}getRGB(t,e=_e.workingColorSpace){return _e.workingToColorSpace(Un.copy(this),e),t.r=Un.r,t.g=Un.g,t.b=Un.b,t}getStyle(t=li){_e.workingToColorSpace(Un.copy(this),t);let e=Un.r,n=Un.g,s=Un.b;return t!==li?`color(${t} ${e.toFixed(3)} ${n.toFixed(3)} ${s.toFixed(3)})`:`rgb(${Math.round(e*255)},${Math.round(n*255)},${Math.round(s*255)})`}offsetHSL(t,e,n){return this.getHSL(Fs),this.setHSL(Fs.h+t,Fs.s+e,Fs.l+n)}add(t){return this.r+=t.r,this.g+=t.g,this.b+=t.b,this}addColors(t,e){return this.r=t.r+e.r,this.g=t.g+e.g,this.b=t.b+e.b,this}addScalar(t){return this.r+=t,this.g+=t,this.b+=t,this}sub(t){return this.r=Math.max(0,this.r-t.r),this.g=Math.max(0,this.g-t.g),this.b=Math.max(0,this.b-t.b),this}multiply(t){return this.r*=t.r,this.g*=t.g,this.b*=t.b,this}multiplyScalar(t){return this.r*=t,this.g*=t,this.b*=t,this}lerp(t,e){return this.r+=(t.r-this.r)*e,this.g+=(t.g-this.g)*e,this.b+=(t.b-this.b)*e,this}lerpColors(t,e,n){return this.r=t.r+(e.r-t.r)*n,this.g=t.g+(e.g-t.g)*n,this.b=t.b+(e.b-t.b)*n,this}lerpHSL(t,e){this.getHSL(Fs),t.getHSL(Rl);let n=ia(Fs.h,Rl.h,e),s=ia(Fs.s,Rl.s,e),r=ia(Fs.l,Rl.l,e);return this.setHSL(n,s,r),this}setFromVector3(t){return this.r=t.x,this.g=t.y,this.b=t.z,this}applyMatrix3(t){let e=this.r,n=this.g,s=this.b,r=t.elements;return this.r=r[0]*e+r[3]*n+r[6]*s,this.g=r[1]*e+r[4]*n+r[7]*s,this.b=r[2]*e+r[5]*n+r[8]*s,this}equals(t){return t.r===this.r&&t.g===this.g&&t.b===this.b}fromArray(t,e=0){return this.r=t[e],this.g=t[e+1],this.b=t[e+2],this}toArray(t=[],e=0){return t[e]=this.r,t[e+1]=this.g,t[e+2]=this.b,t}fromBufferAttribute(t,e){return this.r=t.getX(e),this.g=t.getY(e),this.b=t.getZ(e),this}toJSON(){return this.getHex()}*[Symbol.iterator](){yield this.r,yield this.g,yield this.b}},Un=new ce;ce.NAMES=$g;var ua=class extends Tn{constructor(){super(),this.isScene=!0,this.type="Scene",this.background=null,this.environment=null,this.fog=null,this.backgroundBlurriness=0,this.backgroundIntensity=1,this.backgroundRotation=new vs,this.environmentIntensity=1,this.environmentRotation=new vs,this.overrideMaterial=null,typeof __THREE_DEVTOOLS__<"u"&&__THREE_DEVTOOLS__.dispatchEvent(new CustomEvent("observe",{detail:this}))}copy(t,e){return super.copy(t,e),this.background=t.background!==null?t.background.clone():null,this.environment=t.environment!==null?t.environment.clone():null,this.fog=t.fog!==null?t.fog.clone():null,this.backgroundBlurriness=t.backgroundBlurriness,this.backgroundIntensity=t.backgroundIntensity,this.backgroundRotation.copy(t.backgroundRotation),this.environmentIntensity=t.environmentIntensity,this.environmentRotation.copy(t.environmentRotation),this.overrideMaterial=t.overrideMaterial!==null?t.overrideMaterial.clone():null,this.matrixAutoUpdate=t.matrixAutoUpdate,this}toJSON(t){let e=super.toJSON(t);return this.fog!==null&&(e.object.fog=this.fog.toJSON()),e.object.backgroundBlurriness=this.backgroundBlurriness,e.object.backgroundIntensity=this.backgroundIntensity,e.object.backgroundRotation=this.backgroundRotation.toArray(),e.object.environmentIntensity=this.environmentIntensity,e.object.environmentRotation=this.environmentRotation.toArray(),e}},Li=new O,fs=new O,Yu=new O,ps=new O,Jr=new O,$r=new O,qm=new O,Zu=new O,Ju=new O,$u=new O,Ku=new Re,ju=new Re,Qu=new Re,zs=class i{constructor(t=new O,e=new O,n=new O){this.a=t,this.b=e,this.c=n}static getNormal(t,e,n,s){s.subVectors(n,e),Li.subVectors(t,e),s.cross(Li);let r=s.lengthSq();return r>0?s.multiplyScalar(1/Math.sqrt(r)):s.set(0,0,0)}static getBarycoord(t,e,n,s,r){Li.subVectors(s,e),fs.subVectors(n,e),Yu.subVectors(t,e);let o=Li.dot(Li),a=Li.dot(fs),l=Li.dot(Yu),c=fs.dot(fs),h=fs.dot(Yu),d=o*c-a*a;if(d===0)return r.set(0,0,0),null;let u=1/d,f=(c*l-a*h)*u,g=(o*h-a*l)*u;return r.set(1-f-g,g,f)}static containsPoint(t,e,n,s){return this.getBarycoord(t,e,n,s,ps)===null?!1:ps.x>=0&&ps.y>=0&&ps.x+ps.y<=1}static getInterpolation(t,e,n,s,r,o,a,l){return this.getBarycoord(t,e,n,s,ps)===null?(l.x=0,l.y=0,"z"in l&&(l.z=0),"w"in l&&(l.w=0),null):(l.setScalar(0),l.addScaledVector(r,ps.x),l.addScaledVector(o,ps.y),l.addScaledVector(a,ps.z),l)}static getInterpolatedAttribute(t,e,n,s,r,o){return Ku.setScalar(0),ju.setScalar(0),Qu.setScalar(0),Ku.fromBufferAttribute(t,e),ju.fromBufferAttribute(t,n),Qu.fromBufferAttribute(t,s),o.setScalar(0),o.addScaledVector(Ku,r.x),o.addScaledVector(ju,r.y),o.addScaledVector(Qu,r.z),o}static isFrontFacing(t,e,n,s){return Li.subVectors(n,e),fs.subVectors(t,e),Li.cross(fs).dot(s)<0}set(t,e,n){return this.a.copy(t),this.b.copy(e),this.c.copy(n),this}setFromPointsAndIndices(t,e,n,s){return this.a.copy(t[e]),this.b.copy(t[n]),this.c.copy(t[s]),this}setFromAttributeAndIndices(t,e,n,s){return this.a.fromBufferAttribute(t,e),this.b.fromBufferAttribute(t,n),this.c.fromBufferAttribute(t,s),this}clone(){return new this.constructor().copy(this)}copy(t){return this.a.copy(t.a),this.b.copy(t.b),this.c.copy(t.c),this}getArea(){return Li.subVectors(this.c,this.b),fs.subVectors(this.a,this.b),Li.cross(fs).length()*.5}getMidpoint(t){return t.addVectors(this.a,this.b).add(this.c).multiplyScalar(1/3)}getNormal(t){return i.getNormal(this.a,this.b,this.c,t)}getPlane(t){return t.setFromCoplanarPoints(this.a,this.b,this.c)}getBarycoord(t,e){return i.getBarycoord(t,this.a,this.b,this.c,e)}getInterpolation(t,e,n,s,r){return i.getInterpolation(t,this.a,this.b,this.c,e,n,s,r)}containsPoint(t){return i.containsPoint(t,this.a,this.b,this.c)}isFrontFacing(t){return i.isFrontFacing(this.a,this.b,this.c,t)}intersectsBox(t){return t.intersectsTriangle(this)}closestPointToPoint(t,e){let n=this.a,s=this.b,r=this.c,o,a;Jr.subVectors(s,n),$r.subVectors(r,n),Zu.subVectors(t,n);let l=Jr.dot(Zu),c=$r.dot(Zu);if(l<=0&&c<=0)return e.copy(n);Ju.subVectors(t,s);let h=Jr.dot(Ju),d=$r.dot(Ju);if(h>=0&&d<=h)return e.copy(s);let u=l*d-h*c;if(u<=0&&l>=0&&h<=0&&l-h>0)return o=l/(l-h),e.copy(n).addScaledVector(Jr,o);$u.subVectors(t,r);let f=Jr.dot($u),g=$r.dot($u);if(g>=0&&f<=g)return e.copy(r);let y=f*c-l*g;if(y<=0&&c>=0&&g<=0)return a=c/(c-g),e.copy(n).addScaledVector($r,a);let m=h*g-f*d;if(m<=0&&d-h>=0&&f-g>=0)return qm.subVectors(r,s),a=(d-h)/(d-h+(f-g)),e.copy(s).addScaledVector(qm,a);let p=1/(m+y+u);return o=y*p,a=u*p,e.copy(n).addScaledVector(Jr,o).addScaledVector($r,a)}equals(t){return t.a.equals(this.a)&&t.b.equals(this.b)&&t.c.equals(this.c)}},Cn=class{constructor(t=new O(1/0,1/0,1/0),e=new O(-1/0,-1/0,-1/0)){this.isBox3=!0,this.min=t,this.max=e}set(t,e){return this.min.copy(t),this.max.copy(e),this}setFromArray(t){this.makeEmpty();for(let e=0,n=t.length;e<n;e+=3)this.expandByPoint(Di.fromArray(t,e));return this}setFromBufferAttribute(t){this.makeEmpty();for(let e=0,n=t.count;e<n;e++)this.expandByPoint(Di.fromBufferAttribute(t,e));return this}setFromPoints(t){this.makeEmpty();for(let e=0,n=t.length;e<n;e++)this.expandByPoint(t[e]);return this}setFromCenterAndSize(t,e){let n=Di.copy(e).multiplyScalar(.5);return this.min.copy(t).sub(n),this.max.copy(t).add(n),this}setFromObject(t,e=!1){return this.makeEmpty(),this.expandByObject(t,e)}clone(){return new this.constructor().copy(this)}copy(t){return this.min.copy(t.min),this.max.copy(t.max),this}makeEmpty(){return this.min.x=this.min.y=this.min.z=1/0,this.max.x=this.max.y=this.max.z=-1/0,this}isEmpty(){return this.max.x<this.min.x||this.max.y<this.min.y||this.max.z<this.min.z}getCenter(t){return this.isEmpty()?t.set(0,0,0):t.addVectors(this.min,this.max).multiplyScalar(.5)}getSize(t){return this.isEmpty()?t.set(0,0,0):t.subVectors(this.max,this.min)}expandByPoint(t){return this.min.min(t),this.max.max(t),this}expandByVector(t){return this.min.sub(t),this.max.add(t),this}expandByScalar(t){return this.min.addScalar(-t),this.max.addScalar(t),this}expandByObject(t,e=!1){t.updateWorldMatrix(!1,!1);let n=t.geometry;if(n!==void 0){let r=n.getAttribute("position");if(e===!0&&r!==void 0&&t.isInstancedMesh!==!0&&t.isBatchedMesh!==!0)for(let o=0,a=r.count;o<a;o++)t.isMesh===!0?t.getVertexPosition(o,Di):Di.fromBufferAttribute(r,o),Di.applyMatrix4(t.matrixWorld),this.expandByPoint(Di);else t.boundingBox!==void 0?(t.boundingBox===null&&t.computeBoundingBox(),Pl.copy(t.boundingBox)):(n.boundingBox===null&&n.computeBoundingBox(),Pl.copy(n.boundingBox)),Pl.applyMatrix4(t.matrixWorld),this.union(Pl)}let s=t.children;for(let r=0,o=s.length;r<o;r++)this.expandByObject(s[r],e);return this}containsPoint(t){return t.x>=this.min.x&&t.x<=this.max.x&&t.y>=this.min.y&&t.y<=this.max.y&&t.z>=this.min.z&&t.z<=this.max.z}containsBox(t){return this.min.x<=t.min.x&&t.max.x<=this.max.x&&this.min.y<=t.min.y&&t.max.y<=this.max.y&&this.min.z<=t.min.z&&t.max.z<=this.max.z}getParameter(t,e){return e.set((t.x-this.min.x)/(this.max.x-this.min.x),(t.y-this.min.y)/(this.max.y-this.min.y),(t.z-this.min.z)/(this.max.z-this.min.z))}intersectsBox(t){return t.max.x>=this.min.x&&t.min.x<=this.max.x&&t.max.y>=this.min.y&&t.min.y<=this.max.y&&t.max.z>=this.min.z&&t.min.z<=this.max.z}intersectsSphere(t){return this.clampPoint(t.center,Di),Di.distanceToSquared(t.center)<=t.radius*t.radius}intersectsPlane(t){let e,n;return t.normal.x>0?(e=t.normal.x*this.min.x,n=t.normal.x*this.max.x):(e=t.normal.x*this.max.x,n=t.normal.x*this.min.x),t.normal.y>0?(e+=t.normal.y*this.min.y,n+=t.normal.y*this.max.y):(e+=t.normal.y*this.max.y,n+=t.normal.y*this.min.y),t.normal.z>0?(e+=t.normal.z*this.min.z,n+=t.normal.z*this.max.z):(e+=t.normal.z*this.max.z,n+=t.normal.z*this.min.z),e<=-t.constant&&n>=-t.constant}intersectsTriangle(t){if(this.isEmpty())return!1;this.getCenter(Jo),Il.subVectors(this.max,Jo),Kr.subVectors(t.a,Jo),jr.subVectors(t.b,Jo),Qr.subVectors(t.c,Jo),Os.subVectors(jr,Kr),Bs.subVectors(Qr,jr),cr.subVectors(Kr,Qr);let e=[0,-Os.z,Os.y,0,-Bs.z,Bs.y,0,-cr.z,cr.y,Os.z,0,-Os.x,Bs.z,0,-Bs.x,cr.z,0,-cr.x,-Os.y,Os.x,0,-Bs.y,Bs.x,0,-cr.y,cr.x,0];return!td(e,Kr,jr,Qr,Il)||(e=[1,0,0,0,1,0,0,0,1],!td(e,Kr,jr,Qr,Il))?!1:(Ll.crossVectors(Os,Bs),e=[Ll.x,Ll.y,Ll.z],td(e,Kr,jr,Qr,Il))}clampPoint(t,e){return e.copy(t).clamp(this.min,this.max)}distanceToPoint(t){return this.clampPoint(t,Di).distanceTo(t)}getBoundingSphere(t){return this.isEmpty()?t.makeEmpty():(this.getCenter(t.center),t.radius=this.getSize(Di).length()*.5),t}intersect(t){return this.min.max(t.min),this.max.min(t.max),this.isEmpty()&&this.makeEmpty(),this}union(t){return this.min.min(t.min),this.max.max(t.max),this}applyMatrix4(t){return this.isEmpty()?this:(ms[0].set(this.min.x,this.min.y,this.min.z).applyMatrix4(t),ms[1].set(this.min.x,this.min.y,this.max.z).applyMatrix4(t),ms[2].set(this.min.x,this.max.y,this.min.z).applyMatrix4(t),ms[3].set(this.min.x,this.max.y,this.max.z).applyMatrix4(t),ms[4].set(this.max.x,this.min.y,this.min.z).applyMatrix4(t),ms[5].set(this.max.x,this.min.y,this.max.z).applyMatrix4(t),ms[6].set(this.max.x,this.max.y,this.min.z).applyMatrix4(t),ms[7].set(this.max.x,this.max.y,this.max.z).applyMatrix4(t),this.setFromPoints(ms),this)}translate(t){return this.min.add(t),this.max.add(t),this}equals(t){return t.min.equals(this.min)&&t.max.equals(this.max)}toJSON(){return{min:this.min.toArray(),max:this.max.toArray()}}fromJSON(t){return this.min.fromArray(t.min),this.max.fromArray(t.max),this}},ms=[new O,new O,new O,new O,new O,new O,new O,new O],Di=new O,Pl=new Cn,Kr=new O,jr=new O,Qr=new O,Os=new O,Bs=new O,cr=new O,Jo=new O,Il=new O,Ll=new O,hr=new O;function td(i,t,e,n,s){for(let r=0,o=i.length-3;r<=o;r+=3){hr.fromArray(i,r);let a=s.x*Math.abs(hr.x)+s.y*Math.abs(hr.y)+s.z*Math.abs(hr.z),l=t.dot(hr),c=e.dot(hr),h=n.dot(hr);if(Math.max(-Math.max(l,c,h),Math.min(l,c,h))>a)return!1}return!0}var un=new O,Dl=new Kt,ey=0,Xe=class extends ji{constructor(t,e,n=!1){if(super(),Array.isArray(t))throw new TypeError("THREE.BufferAttribute: array should be a Typed Array.");this.isBufferAttribute=!0,Object.defineProperty(this,"id",{value:ey++}),this.name="",this.array=t,this.itemSize=e,this.count=t!==void 0?t.length/e:0,this.normalized=n,this.usage=zd,this.updateRanges=[],this.gpuType=bi,this.version=0,this._normalizationScale=t!==void 0?vh(t):void 0}onUploadCallback(){}set needsUpdate(t){t===!0&&this.version++}setUsage(t){return this.usage=t,this}addUpdateRange(t,e){this.updateRanges.push({start:t,count:e})}clearUpdateRanges(){this.updateRanges.length=0}copy(t){return this.name=t.name,this.array=new t.array.constructor(t.array),this.itemSize=t.itemSize,this.count=t.count,this.normalized=t.normalized,this.usage=t.usage,this.gpuType=t.gpuType,this._normalizationScale=t._normalizationScale,this}copyAt(t,e,n){t*=this.itemSize,n*=e.itemSize;for(let s=0,r=this.itemSize;s<r;s++)this.array[t+s]=e.array[n+s];return this}copyArray(t){return this.array.set(t),this}applyMatrix3(t){if(this.itemSize===2)for(let e=0,n=this.count;e<n;e++)Dl.fromBufferAttribute(this,e),Dl.applyMatrix3(t),this.setXY(e,Dl.x,Dl.y);else if(this.itemSize===3)for(let e=0,n=this.count;e<n;e++)un.fromBufferAttribute(this,e),un.applyMatrix3(t),this.setXYZ(e,un.x,un.y,un.z);return this}applyMatrix4(t){for(let e=0,n=this.count;e<n;e++)un.fromBufferAttribute(this,e),un.applyMatrix4(t),this.setXYZ(e,un.x,un.y,un.z);return this}applyNormalMatrix(t){for(let e=0,n=this.count;e<n;e++)un.fromBufferAttribute(this,e),un.applyNormalMatrix(t),this.setXYZ(e,un.x,un.y,un.z);return this}transformDirection(t){for(let e=0,n=this.count;e<n;e++)un.fromBufferAttribute(this,e),un.transformDirection(t),this.setXYZ(e,un.x,un.y,un.z);return this}set(t,e=0){return this.array.set(t,e),this}getComponent(t,e){let n=this.array[t*this.itemSize+e];return this.normalized&&(n=this._denormalize(n)),n}setComponent(t,e,n){return this.normalized&&(n=this._normalize(n)),this.array[t*this.itemSize+e]=n,this}getX(t){let e=this.array[t*this.itemSize];return this.normalized&&(e=this._denormalize(e)),e}setX(t,e){return this.normalized&&(e=this._normalize(e)),this.array[t*this.itemSize]=e,this}getY(t){let e=this.array[t*this.itemSize+1];return this.normalized&&(e=this._denormalize(e)),e}setY(t,e){return this.normalized&&(e=this._normalize(e)),this.array[t*this.itemSize+1]=e,this}getZ(t){let e=this.array[t*this.itemSize+2];return this.normalized&&(e=this._denormalize(e)),e}setZ(t,e){return this.normalized&&(e=this._normalize(e)),this.array[t*this.itemSize+2]=e,this}getW(t){let e=this.array[t*this.itemSize+3];return this.normalized&&(e=this._denormalize(e)),e}setW(t,e){return this.normalized&&(e=this._normalize(e)),this.array[t*this.itemSize+3]=e,this}setXY(t,e,n){return t*=this.itemSize,this.normalized&&(e=this._normalize(e),n=this._normalize(n)),this.array[t+0]=e,this.array[t+1]=n,this}setXYZ(t,e,n,s){return t*=this.itemSize,this.normalized&&(e=this._normalize(e),n=this._normalize(n),s=this._normalize(s)),this.array[t+0]=e,this.array[t+1]=n,this.array[t+2]=s,this}setXYZW(t,e,n,s,r){return t*=this.itemSize,this.normalized&&(e=this._normalize(e),n=this._normalize(n),s=this._normalize(s),r=this._normalize(r)),this.array[t+0]=e,this.array[t+1]=n,this.array[t+2]=s,this.array[t+3]=r,this}onUpload(t){return this.onUploadCallback=t,this}clone(){return new this.constructor(this.array,this.itemSize).copy(this)}toJSON(){let t={itemSize:this.itemSize,type:this.array.constructor.name,array:Array.from(this.array),normalized:this.normalized};return t.name=this.name,t.usage=this.usage,t.gpuType=this.gpuType,t}dispose(){this.dispatchEvent({type:"dispose"})}_denormalize(t){let e=this._normalizationScale;return e!==void 0?Math.max(t/e,-1):Wd(t,this.array)}_normalize(t){let e=this._normalizationScale;return e!==void 0?Math.round(t*e):Xd(t,this.array)}};var da=class extends Xe{constructor(t,e,n){super(new Uint16Array(t),e,n)}};var fa=class extends Xe{constructor(t,e,n){super(new Uint32Array(t),e,n)}};var Ce=class extends Xe{constructor(t,e,n){super(new Float32Array(t),e,n)}},ny=new Cn,$o=new O,ed=new O,hi=class{constructor(t=new O,e=-1){this.isSphere=!0,this.center=t,this.radius=e}set(t,e){return this.center.copy(t),this.radius=e,this}setFromPoints(t,e){let n=this.center;e!==void 0?n.copy(e):ny.setFromPoints(t).getCenter(n);let s=0;for(let r=0,o=t.length;r<o;r++)s=Math.max(s,n.distanceToSquared(t[r]));return this.radius=Math.sqrt(s),this}copy(t){return this.center.copy(t.center),this.radius=t.radius,this}isEmpty(){return this.radius<0}makeEmpty(){return this.center.set(0,0,0),this.radius=-1,this}containsPoint(t){return t.distanceToSquared(this.center)<=this.radius*this.radius}distanceToPoint(t){return t.distanceTo(this.center)-this.radius}intersectsSphere(t){let e=this.radius+t.radius;return t.center.distanceToSquared(this.center)<=e*e}intersectsBox(t){return t.intersectsSphere(this)}intersectsPlane(t){return Math.abs(t.distanceToPoint(this.center))<=this.radius}clampPoint(t,e){let n=this.center.distanceToSquared(t);return e.copy(t),n>this.radius*this.radius&&(e.sub(this.center).normalize(),e.multiplyScalar(this.radius).add(this.center)),e}getBoundingBox(t){return this.isEmpty()?(t.makeEmpty(),t):(t.set(this.center,this.center),t.expandByScalar(this.radius),t)}applyMatrix4(t){return this.center.applyMatrix4(t),this.radius=this.radius*t.getMaxScaleOnAxis(),this}translate(t){return this.center.add(t),this}expandByPoint(t){if(this.isEmpty())return this.center.copy(t),this.radius=0,this;$o.subVectors(t,this.center);let e=$o.lengthSq();if(e>this.radius*this.radius){let n=Math.sqrt(e),s=(n-this.radius)*.5;this.center.addScaledVector($o,s/n),this.radius+=s}return this}union(t){return t.isEmpty()?this:this.isEmpty()?(this.copy(t),this):(this.center.equals(t.center)===!0?this.radius=Math.max(this.radius,t.radius):(ed.subVectors(t.center,this.center).setLength(t.radius),this.expandByPoint($o.copy(t.center).add(ed)),this.expandByPoint($o.copy(t.center).sub(ed))),this)}equals(t){return t.center.equals(this.center)&&t.radius===this.radius}clone(){return new this.constructor().copy(this)}toJSON(){return{radius:this.radius,center:this.center.toArray()}}fromJSON(t){return this.radius=t.radius,this.center.fromArray(t.center),this}},iy=0,vi=new ye,nd=new Tn,to=new O,ai=new Cn,Ko=new Cn,wn=new O,qe=class i extends ji{constructor(){super(),this.isBufferGeometry=!0,Object.defineProperty(this,"id",{value:iy++}),this.uuid=Js(),this.name="",this.type="BufferGeometry",this.index=null,this.indirect=null,this.indirectOffset=0,this.attributes={},this.morphAttributes={},this.morphTargetsRelative=!1,this.groups=[],this.boundingBox=null,this.boundingSphere=null,this.drawRange={start:0,count:1/0},this.userData={},this._transformed=!1}getIndex(){return this.index}setIndex(t){return Array.isArray(t)?this.index=new(Cv(t)?fa:da)(t,1):this.index=t,this}setIndirect(t,e=0){return this.indirect=t,this.indirectOffset=e,this}getIndirect(){return this.indirect}getAttribute(t){return this.attributes[t]}setAttribute(t,e){return this.attributes[t]=e,this}deleteAttribute(t){return delete this.attributes[t],this}hasAttribute(t){return this.attributes[t]!==void 0}addGroup(t,e,n=0){this.groups.push({start:t,count:e,materialIndex:n})}clearGroups(){this.groups=[]}setDrawRange(t,e){this.drawRange.start=t,this.drawRange.count=e}applyMatrix4(t){let e=this.attributes.position;e!==void 0&&(e.applyMatrix4(t),e.needsUpdate=!0);let n=this.attributes.normal;if(n!==void 0){let r=new te().getNormalMatrix(t);n.applyNormalMatrix(r),n.needsUpdate=!0}let s=this.attributes.tangent;return s!==void 0&&(s.transformDirection(t),s.needsUpdate=!0),this.boundingBox!==null&&this.computeBoundingBox(),this.boundingSphere!==null&&this.computeBoundingSphere(),this._transformed=!0,this}applyQuaternion(t){return vi.makeRotationFromQuaternion(t),this.applyMatrix4(vi),this}rotateX(t){return vi.makeRotationX(t),this.applyMatrix4(vi),this}rotateY(t){return vi.makeRotationY(t),this.applyMatrix4(vi),this}rotateZ(t){return vi.makeRotationZ(t),this.applyMatrix4(vi),this}translate(t,e,n){return vi.makeTranslation(t,e,n),this.applyMatrix4(vi),this}scale(t,e,n){return vi.makeScale(t,e,n),this.applyMatrix4(vi),this}lookAt(t){return nd.lookAt(t),nd.updateMatrix(),this.applyMatrix4(nd.matrix),this}center(){return this.computeBoundingBox(),this.boundingBox.getCenter(to).negate(),this.translate(to.x,to.y,to.z),this}setFromPoints(t){let e=this.getAttribute("position");if(e===void 0){let n=[];for(let s=0,r=t.length;s<r;s++){let o=t[s];n.push(o.x,o.y,o.z||0)}this.setAttribute("position",new Ce(n,3))}else{let n=Math.min(t.length,e.count);for(let s=0;s<n;s++){let r=t[s];e.setXYZ(s,r.x,r.y,r.z||0)}t.length>e.count&&qt("BufferGeometry: Buffer size too small for points data. Use .dispose() and create a new geometry."),e.needsUpdate=!0}return this}computeBoundingBox(){this.boundingBox===null&&(this.boundingBox=new Cn);let t=this.attributes.position,e=this.morphAttributes.position;if(t&&t.isGLBufferAttribute){Qt("BufferGeometry.computeBoundingBox(): GLBufferAttribute requires a manual bounding box.",this),this.boundingBox.set(new O(-1/0,-1/0,-1/0),new O(1/0,1/0,1/0));return}if(t!==void 0){if(this.boundingBox.setFromBufferAttribute(t),e)for(let n=0,s=e.length;n<s;n++){let r=e[n];ai.setFromBufferAttribute(r),this.morphTargetsRelative?(wn.addVectors(this.boundingBox.min,ai.min),this.boundingBox.expandByPoint(wn),wn.addVectors(this.boundingBox.max,ai.max),this.boundingBox.expandByPoint(wn)):(this.boundingBox.expandByPoint(ai.min),this.boundingBox.expandByPoint(ai.max))}}else this.boundingBox.makeEmpty();(isNaN(this.boundingBox.min.x)||isNaN(this.boundingBox.min.y)||isNaN(this.boundingBox.min.z))&&Qt('BufferGeometry.computeBoundingBox(): Computed min/max have NaN values. The "position" attribute is likely to have NaN values.',this)}computeBoundingSphere(){this.boundingSphere===null&&(this.boundingSphere=new hi);let t=this.attributes.position,e=this.morphAttributes.position;if(t&&t.isGLBufferAttribute){Qt("BufferGeometry.computeBoundingSphere(): GLBufferAttribute requires a manual bounding sphere.",this),this.boundingSphere.set(new O,1/0);return}if(t){let n=this.boundingSphere.center;if(ai.setFromBufferAttribute(t),e)for(let r=0,o=e.length;r<o;r++){let a=e[r];Ko.setFromBufferAttribute(a),this.morphTargetsRelative?(wn.addVectors(ai.min,Ko.min),ai.expandByPoint(wn),wn.addVectors(ai.max,Ko.max),ai.expandByPoint(wn)):(ai.expandByPoint(Ko.min),ai.expandByPoint(Ko.max))}ai.getCenter(n);let s=0;for(let r=0,o=t.count;r<o;r++)wn.fromBufferAttribute(t,r),s=Math.max(s,n.distanceToSquared(wn));if(e)for(let r=0,o=e.length;r<o;r++){let a=e[r],l=this.morphTargetsRelative;for(let c=0,h=a.count;c<h;c++)wn.fromBufferAttribute(a,c),l&&(to.fromBufferAttribute(t,c),wn.add(to)),s=Math.max(s,n.distanceToSquared(wn))}this.boundingSphere.radius=Math.sqrt(s),isNaN(this.boundingSphere.radius)&&Qt('BufferGeometry.computeBoundingSphere(): Computed radius is NaN. The "position" attribute is likely to have NaN values.',this)}}computeTangents(){let t=this.index,e=this.attributes;if(t===null||e.position===void 0||e.normal===void 0||e.uv===void 0){Qt("BufferGeometry: .computeTangents() failed. Missing required attributes (index, position, normal or uv)");return}let n=e.position,s=e.normal,r=e.uv,o=this.getAttribute("tangent");(o===void 0||o.count!==n.count)&&(o=new Xe(new Float32Array(4*n.count),4),this.setAttribute("tangent",o));let a=[],l=[],c=new Uint8Array(n.count);for(let k=0;k<n.count;k++)a[k]=new O,l[k]=new O;let h=new O,d=new O,u=new O,f=new Kt,g=new Kt,y=new Kt,m=new O,p=new O;function v(k,N,D){c[k]=c[N]=c[D]=1,h.fromBufferAttribute(n,k),d.fromBufferAttribute(n,N),u.fromBufferAttribute(n,D),f.fromBufferAttribute(r,k),g.fromBufferAttribute(r,N),y.fromBufferAttribute(r,D),d.sub(h),u.sub(h),g.sub(f),y.sub(f);let z=1/(g.x*y.y-y.x*g.y);isFinite(z)&&(m.copy(d).multiplyScalar(y.y).addScaledVector(u,-g.y).multiplyScalar(z),p.copy(u).multiplyScalar(g.x).addScaledVector(d,-y.x).multiplyScalar(z),a[k].add(m),a[N].add(m),a[D].add(m),l[k].add(p),l[N].add(p),l[D].add(p))}let T=this.groups;T.length===0&&(T=[{start:0,count:t.count}]);for(let k=0,N=T.length;k<N;++k){let D=T[k],z=D.start,H=D.count;for(let L=z,W=z+H;L<W;L+=3)v(t.getX(L+0),t.getX(L+1),t.getX(L+2))}let M=new O,P=new O,E=new O,x=new O;function A(k){E.fromBufferAttribute(s,k),x.copy(E);let N=a[k];M.copy(N),M.sub(E.multiplyScalar(E.dot(N))).normalize(),P.crossVectors(x,N);let z=P.dot(l[k])<0?-1:1;o.setXYZW(k,M.x,M.y,M.z,z)}for(let k=0,N=n.count;k<N;++k)c[k]&&A(k);this._transformed=!0}computeVertexNormals(){let t=this.index,e=this.getAttribute("position");if(e!==void 0){let n=this.getAttribute("normal");if(n===void 0||n.count!==e.count)n=new Xe(new Float32Array(e.count*3),3),this.setAttribute("normal",n);else for(let u=0,f=n.count;u<f;u++)n.setXYZ(u,0,0,0);let s=new O,r=new O,o=new O,a=new O,l=new O,c=new O,h=new O,d=new O;if(t)for(let u=0,f=t.count;u<f;u+=3){let g=t.getX(u+0),y=t.getX(u+1),m=t.getX(u+2);s.fromBufferAttribute(e,g),r.fromBufferAttribute(e,y),o.fromBufferAttribute(e,m),h.subVectors(o,r),d.subVectors(s,r),h.cross(d),a.fromBufferAttribute(n,g),l.fromBufferAttribute(n,y),c.fromBufferAttribute(n,m),a.add(h),l.add(h),c.add(h),n.setXYZ(g,a.x,a.y,a.z),n.setXYZ(y,l.x,l.y,l.z),n.setXYZ(m,c.x,c.y,c.z)}else for(let u=0,f=e.count;u<f;u+=3)s.fromBufferAttribute(e,u+0),r.fromBufferAttribute(e,u+1),o.fromBufferAttribute(e,u+2),h.subVectors(o,r),d.subVectors(s,r),h.cross(d),n.setXYZ(u+0,h.x,h.y,h.z),n.setXYZ(u+1,h.x,h.y,h.z),n.setXYZ(u+2,h.x,h.y,h.z);this.normalizeNormals(),n.needsUpdate=!0}}normalizeNormals(){let t=this.attributes.normal;for(let e=0,n=t.count;e<n;e++)wn.fromBufferAttribute(t,e),wn.normalize(),t.setXYZ(e,wn.x,wn.y,wn.z)}toNonIndexed(){function t(a,l){let c=a.array,h=a.itemSize,d=a.normalized,u=new c.constructor(l.length*h),f=0,g=0;for(let y=0,m=l.length;y<m;y++){a.isInterleavedBufferAttribute?f=l[y]*a.data.stride+a.offset:f=l[y]*h;for(let p=0;p<h;p++)u[g++]=c[f++]}return new Xe(u,h,d)}if(this.index===null)return qt("BufferGeometry.toNonIndexed(): BufferGeometry is already non-indexed."),this;let e=new i,n=this.index.array,s=this.attributes;for(let a in s){let l=s[a],c=t(l,n);e.setAttribute(a,c)}let r=this.morphAttributes;for(let a in r){let l=[],c=r[a];for(let h=0,d=c.length;h<d;h++){let u=c[h],f=t(u,n);l.push(f)}e.morphAttributes[a]=l}e.morphTargetsRelative=this.morphTargetsRelative;let o=this.groups;for(let a=0,l=o.length;a<l;a++){let c=o[a];e.addGroup(c.start,c.count,c.materialIndex)}return e}toJSON(){let t={metadata:{version:4.7,type:"BufferGeometry",generator:"BufferGeometry.toJSON"}};if(t.uuid=this.uuid,t.type=this.parameters!==void 0&&this._transformed===!0?"BufferGeometry":this.type,t.name=this.name,Object.keys(this.userData).length>0&&(t.userData=this.userData),this.parameters!==void 0&&this._transformed!==!0){let l=this.parameters;for(let c in l)l[c]!==void 0&&(t[c]=l[c]);return t}t.data={attributes:{}};let e=this.index;e!==null&&(t.data.index={type:e.array.constructor.name,array:Array.prototype.slice.call(e.array)});let n=this.attributes;for(let l in n){let c=n[l];t.data.attributes[l]=c.toJSON(t.data)}let s={},r=!1;for(let l in this.morphAttributes){let c=this.morphAttributes[l],h=[];for(let d=0,u=c.length;d<u;d++){let f=c[d];h.push(f.toJSON(t.data))}h.length>0&&(s[l]=h,r=!0)}r&&(t.data.morphAttributes=s,t.data.morphTargetsRelative=this.morphTargetsRelative);let o=this.groups;o.length>0&&(t.data.groups=JSON.parse(JSON.stringify(o)));let a=this.boundingSphere;return a!==null&&(t.data.boundingSphere=a.toJSON()),t}clone(){return new this.constructor().copy(this)}copy(t){this.index=null,this.attributes={},this.morphAttributes={},this.groups=[],this.boundingBox=null,this.boundingSphere=null;let e={};this.name=t.name;let n=t.index;n!==null&&this.setIndex(n.clone());let s=t.attributes;for(let c in s){let h=s[c];this.setAttribute(c,h.clone(e))}let r=t.morphAttributes;for(let c in r){let h=[],d=r[c];for(let u=0,f=d.length;u<f;u++)h.push(d[u].clone(e));this.morphAttributes[c]=h}this.morphTargetsRelative=t.morphTargetsRelative;let o=t.groups;for(let c=0,h=o.length;c<h;c++){let d=o[c];this.addGroup(d.start,d.count,d.materialIndex)}let a=t.boundingBox;a!==null&&(this.boundingBox=a.clone());let l=t.boundingSphere;return l!==null&&(this.boundingSphere=l.clone()),this.drawRange.start=t.drawRange.start,this.drawRange.count=t.drawRange.count,this.userData=t.userData,this._transformed=t._transformed,this}dispose(){this.dispatchEvent({type:"dispose"})}},dc=class{constructor(t,e){this.isInterleavedBuffer=!0,this.array=t,this.stride=e,this.count=t!==void 0?t.length/e:0,this.usage=zd,this.updateRanges=[],this.version=0,this.uuid=Js()}onUploadCallback(){}set needsUpdate(t){t===!0&&this.version++}setUsage(t){return this.usage=t,this}addUpdateRange(t,e){this.updateRanges.push({start:t,count:e})}clearUpdateRanges(){this.updateRanges.length=0}copy(t){return this.array=new t.array.constructor(t.array),this.count=t.count,this.stride=t.stride,this.usage=t.usage,this}copyAt(t,e,n){t*=this.stride,n*=e.stride;for(let s=0,r=this.stride;s<r;s++)this.array[t+s]=e.array[n+s];return this}set(t,e=0){return this.array.set(t,e),this}clone(t){t.arrayBuffers===void 0&&(t.arrayBuffers={});let e=Ym(this.array);t.arrayBuffers[e]===void 0&&(t.arrayBuffers[e]=this.array.slice(0).buffer);let n=new this.array.constructor(t.arrayBuffers[e]),s=new this.constructor(n,this.stride);return s.setUsage(this.usage),s}onUpload(t){return this.onUploadCallback=t,this}toJSON(t){t.arrayBuffers===void 0&&(t.arrayBuffers={});let e=Ym(this.array);t.arrayBuffers[e]===void 0&&(t.arrayBuffers[e]=Array.from(new Uint32Array(this.array.slice(0).buffer)));let n={uuid:this.uuid,buffer:e,type:this.array.constructor.name,stride:this.stride};return n.usage=this.usage,n}};function Ym(i){return i.buffer._uuid===void 0&&(i.buffer._uuid=Js()),i.byteOffset===0&&i.byteLength===i.buffer.byteLength?i.buffer._uuid:i.buffer._uuid+":"+i.byteOffset+":"+i.byteLength}var Xn=new O,Ui=class i{constructor(t,e,n,s=!1){this.isInterleavedBufferAttribute=!0,this.name="",this.data=t,this.itemSize=e,this.offset=n,this.normalized=s,this._normalizationScale=t!==void 0?vh(t.array):void 0}get count(){return this.data.count}get array(){return this.data.array}set needsUpdate(t){this.data.needsUpdate=t}applyMatrix4(t){for(let e=0,n=this.data.count;e<n;e++)Xn.fromBufferAttribute(this,e),Xn.applyMatrix4(t),this.setXYZ(e,Xn.x,Xn.y,Xn.z);return this}applyNormalMatrix(t){for(let e=0,n=this.count;e<n;e++)Xn.fromBufferAttribute(this,e),Xn.applyNormalMatrix(t),this.setXYZ(e,Xn.x,Xn.y,Xn.z);return this}transformDirection(t){for(let e=0,n=this.count;e<n;e++)Xn.fromBufferAttribute(this,e),Xn.transformDirection(t),this.setXYZ(e,Xn.x,Xn.y,Xn.z);return this}getComponent(t,e){let n=this.array[t*this.data.stride+this.offset+e];return this.normalized&&(n=this._denormalize(n)),n}setComponent(t,e,n){return this.normalized&&(n=this._normalize(n)),this.data.array[t*this.data.stride+this.offset+e]=n,this}setX(t,e){return this.normalized&&(e=this._normalize(e)),this.data.array[t*this.data.stride+this.offset]=e,this}setY(t,e){return this.normalized&&(e=this._normalize(e)),this.data.array[t*this.data.stride+this.offset+1]=e,this}setZ(t,e){return this.normalized&&(e=this._normalize(e)),this.data.array[t*this.data.stride+this.offset+2]=e,this}setW(t,e){return this.normalized&&(e=this._normalize(e)),this.data.array[t*this.data.stride+this.offset+3]=e,this}getX(t){let e=this.data.array[t*this.data.stride+this.offset];return this.normalized&&(e=this._denormalize(e)),e}getY(t){let e=this.data.array[t*this.data.stride+this.offset+1];return this.normalized&&(e=this._denormalize(e)),e}getZ(t){let e=this.data.array[t*this.data.stride+this.offset+2];return this.normalized&&(e=this._denormalize(e)),e}getW(t){let e=this.data.array[t*this.data.stride+this.offset+3];return this.normalized&&(e=this._denormalize(e)),e}setXY(t,e,n){return t=t*this.data.stride+this.offset,this.normalized&&(e=this._normalize(e),n=this._normalize(n)),this.data.array[t+0]=e,this.data.array[t+1]=n,this}setXYZ(t,e,n,s){return t=t*this.data.stride+this.offset,this.normalized&&(e=this._normalize(e),n=this._normalize(n),s=this._normalize(s)),this.data.array[t+0]=e,this.data.array[t+1]=n,this.data.array[t+2]=s,this}setXYZW(t,e,n,s,r){return t=t*this.data.stride+this.offset,this.normalized&&(e=this._normalize(e),n=this._normalize(n),s=this._normalize(s),r=this._normalize(r)),this.data.array[t+0]=e,this.data.array[t+1]=n,this.data.array[t+2]=s,this.data.array[t+3]=r,this}clone(t){if(t===void 0){la("InterleavedBufferAttribute.clone(): Cloning an interleaved buffer attribute will de-interleave buffer data.");let e=[];for(let n=0;n<this.count;n++){let s=n*this.data.stride+this.offset;for(let r=0;r<this.itemSize;r++)e.push(this.data.array[s+r])}return new Xe(new this.array.constructor(e),this.itemSize,this.normalized)}else return t.interleavedBuffers===void 0&&(t.interleavedBuffers={}),t.interleavedBuffers[this.data.uuid]===void 0&&(t.interleavedBuffers[this.data.uuid]=this.data.clone(t)),new i(t.interleavedBuffers[this.data.uuid],this.itemSize,this.offset,this.normalized)}toJSON(t){if(t===void 0){la("InterleavedBufferAttribute.toJSON(): Serializing an interleaved buffer attribute will de-interleave buffer data.");let e=[];for(let n=0;n<this.count;n++){let s=n*this.data.stride+this.offset;for(let r=0;r<this.itemSize;r++)e.push(this.data.array[s+r])}return{itemSize:this.itemSize,type:this.array.constructor.name,array:e,normalized:this.normalized}}else return t.interleavedBuffers===void 0&&(t.interleavedBuffers={}),t.interleavedBuffers[this.data.uuid]===void 0&&(t.interleavedBuffers[this.data.uuid]=this.data.toJSON(t)),{isInterleavedBufferAttribute:!0,itemSize:this.itemSize,data:this.data.uuid,offset:this.offset,normalized:this.normalized}}_denormalize(t){let e=this._normalizationScale;return e!==void 0?Math.max(t/e,-1):Wd(t,this.data.array)}_normalize(t){let e=this._normalizationScale;return e!==void 0?Math.round(t*e):Xd(t,this.data.array)}},id=new O,sy=new O,ry=new te,Ni=class{constructor(t=new O(1,0,0),e=0){this.isPlane=!0,this.normal=t,this.constant=e}set(t,e){return this.normal.copy(t),this.constant=e,this}setComponents(t,e,n,s){return this.normal.set(t,e,n),this.constant=s,this}setFromNormalAndCoplanarPoint(t,e){return this.normal.copy(t),this.constant=-e.dot(this.normal),this}setFromCoplanarPoints(t,e,n){let s=id.subVectors(n,e).cross(sy.subVectors(t,e)).normalize();return this.setFromNormalAndCoplanarPoint(s,t),this}copy(t){return this.normal.copy(t.normal),this.constant=t.constant,this}normalize(){let t=1/this.normal.length();return this.normal.multiplyScalar(t),this.constant*=t,this}negate(){return this.constant*=-1,this.normal.negate(),this}distanceToPoint(t){return this.normal.dot(t)+this.constant}distanceToSphere(t){return this.distanceToPoint(t.center)-t.radius}projectPoint(t,e){return e.copy(t).addScaledVector(this.normal,-this.distanceToPoint(t))}intersectLine(t,e,n=!0){let s=t.delta(id),r=this.normal.dot(s);if(r===0)return this.distanceToPoint(t.start)===0?e.copy(t.start):null;let o=-(t.start.dot(this.normal)+this.constant)/r;return n===!0&&(o<0||o>1)?null:e.copy(t.start).addScaledVector(s,o)}intersectsLine(t){let e=this.distanceToPoint(t.start),n=this.distanceToPoint(t.end);return e<0&&n>0||n<0&&e>0}intersectsBox(t){return t.intersectsPlane(this)}intersectsSphere(t){return t.intersectsPlane(this)}coplanarPoint(t){return t.copy(this.normal).multiplyScalar(-this.constant)}applyMatrix4(t,e){let n=e||ry.getNormalMatrix(t),s=this.coplanarPoint(id).applyMatrix4(t),r=this.normal.applyMatrix3(n).normalize();return this.constant=-s.dot(r),this}translate(t){return this.constant-=t.dot(this.normal),this}equals(t){return t.normal.equals(this.normal)&&t.constant===this.constant}clone(){return new this.constructor().copy(this)}toJSON(){return{normal:this.normal.toArray(),constant:this.constant}}fromJSON(t){return this.normal.fromArray(t.normal),this.constant=t.constant,this}},oy=0,ys=class extends ji{constructor(){super(),this.isMaterial=!0,Object.defineProperty(this,"id",{value:oy++}),this.uuid=Js(),this.name="",this.type="Material",this.blending=xo,this.side=Ys,this.vertexColors=!1,this.opacity=1,this.transparent=!1,this.alphaHash=!1,this.blendSrc=yd,this.blendDst=Sd,this.blendEquation=gr,this.blendSrcAlpha=null,this.blendDstAlpha=null,this.blendEquationAlpha=null,this.blendColor=new ce(0,0,0),this.blendAlpha=0,this.depthFunc=lo,this.depthTest=!0,this.depthWrite=!0,this.stencilWriteMask=255,this.stencilFunc=zg,this.stencilRef=0,this.stencilFuncMask=255,this.stencilFail=jl,this.stencilZFail=jl,this.stencilZPass=jl,this.stencilWrite=!1,this.clippingPlanes=null,this.clipIntersection=!1,this.clipShadows=!1,this.shadowSide=null,this.colorWrite=!0,this.precision=null,this.polygonOffset=!1,this.polygonOffsetFactor=0,this.polygonOffsetUnits=0,this.dithering=!1,this.alphaToCoverage=!1,this.premultipliedAlpha=!1,this.forceSinglePass=!1,this.allowOverride=!0,this.visible=!0,this.toneMapped=!0,this.userData={},this.version=0,this._alphaTest=0}get alphaTest(){return this._alphaTest}set alphaTest(t){this._alphaTest>0!=t>0&&this.version++,this._alphaTest=t}onBeforeRender(){}onBeforeCompile(){}customProgramCacheKey(){return this.onBeforeCompile.toString()}setValues(t){if(t!==void 0)for(let e in t){let n=t[e];if(n===void 0){qt(`Material: parameter '${e}' has value of undefined.`);continue}let s=this[e];if(s===void 0){qt(`Material: '${e}' is not a property of THREE.${this.type}.`);continue}s&&s.isColor?s.set(n):s&&s.isVector2&&n&&n.isVector2||s&&s.isEuler&&n&&n.isEuler||s&&s.isVector3&&n&&n.isVector3?s.copy(n):this[e]=n}}toJSON(t){let e=t===void 0||typeof t=="string";e&&(t={textures:{},images:{}});let n={metadata:{version:4.7,type:"Material",generator:"Material.toJSON"}};n.uuid=this.uuid,n.type=this.type,n.blending=this.blending,n.side=this.side,n.shadowSide=this.shadowSide,n.vertexColors=this.vertexColors,n.opacity=this.opacity,n.transparent=this.transparent,n.blendSrc=this.blendSrc,n.blendDst=this.blendDst,n.blendEquation=this.blendEquation,n.blendSrcAlpha=this.blendSrcAlpha,n.blendDstAlpha=this.blendDstAlpha,n.blendEquationAlpha=this.blendEquationAlpha,n.blendColor=this.blendColor.getHex(),n.blendAlpha=this.blendAlpha,n.depthFunc=this.depthFunc,n.depthTest=this.depthTest,n.depthWrite=this.depthWrite,n.colorWrite=this.colorWrite,n.clipIntersection=this.clipIntersection,n.clipShadows=this.clipShadows,n.stencilWriteMask=this.stencilWriteMask,n.stencilFunc=this.stencilFunc,n.stencilRef=this.stencilRef,n.stencilFuncMask=this.stencilFuncMask,n.stencilFail=this.stencilFail,n.stencilZFail=this.stencilZFail,n.stencilZPass=this.stencilZPass,n.stencilWrite=this.stencilWrite,n.polygonOffset=this.polygonOffset,n.polygonOffsetFactor=this.polygonOffsetFactor,n.polygonOffsetUnits=this.polygonOffsetUnits,n.dithering=this.dithering,n.alphaTest=this.alphaTest,n.alphaHash=this.alphaHash,n.alphaToCoverage=this.alphaToCoverage,n.premultipliedAlpha=this.premultipliedAlpha,n.forceSinglePass=this.forceSinglePass,n.allowOverride=this.allowOverride,n.visible=this.visible,n.toneMapped=this.toneMapped,n.name=this.name,this.color&&this.color.isColor&&(n.color=this.color.getHex()),this.roughness!==void 0&&(n.roughness=this.roughness),this.metalness!==void 0&&(n.metalness=this.metalness),this.sheen!==void 0&&(n.sheen=this.sheen),this.sheenColor&&this.sheenColor.isColor&&(n.sheenColor=this.sheenColor.getHex()),this.sheenRoughness!==void 0&&(n.sheenRoughness=this.sheenRoughness),this.emissive&&this.emissive.isColor&&(n.emissive=this.emissive.getHex()),this.emissiveIntensity!==void 0&&(n.emissiveIntensity=this.emissiveIntensity),this.specular&&this.specular.isColor&&(n.specular=this.specular.getHex()),this.specularIntensity!==void 0&&(n.specularIntensity=this.specularIntensity),this.specularColor&&this.specularColor.isColor&&(n.specularColor=this.specularColor.getHex()),this.shininess!==void 0&&(n.shininess=this.shininess),this.clearcoat!==void 0&&(n.clearcoat=this.clearcoat),this.clearcoatRoughness!==void 0&&(n.clearcoatRoughness=this.clearcoatRoughness),this.diffuseRoughness!==void 0&&(n.diffuseRoughness=this.diffuseRoughness),this.diffuseRoughnessMap&&this.diffuseRoughnessMap.isTexture&&(n.diffuseRoughnessMap=this.diffuseRoughnessMap.toJSON(t).uuid),this.clearcoatMap&&this.clearcoatMap.isTexture&&(n.clearcoatMap=this.clearcoatMap.toJSON(t).uuid),this.clearcoatRoughnessMap&&this.clearcoatRoughnessMap.isTexture&&(n.clearcoatRoughnessMap=this.clearcoatRoughnessMap.toJSON(t).uuid),this.clearcoatNormalMap&&this.clearcoatNormalMap.isTexture&&(n.clearcoatNormalMap=this.clearcoatNormalMap.toJSON(t).uuid,n.clearcoatNormalScale=this.clearcoatNormalScale.toArray()),this.sheenColorMap&&this.sheenColorMap.isTexture&&(n.sheenColorMap=this.sheenColorMap.toJSON(t).uuid),this.sheenRoughnessMap&&this.sheenRoughnessMap.isTexture&&(n.sheenRoughnessMap=this.sheenRoughnessMap.toJSON(t).uuid),this.dispersion!==void 0&&(n.dispersion=this.dispersion),this.retroreflectivity!==void 0&&(n.retroreflectivity=this.retroreflectivity),this.iridescence!==void 0&&(n.iridescence=this.iridescence),this.iridescenceIOR!==void 0&&(n.iridescenceIOR=this.iridescenceIOR),this.iridescenceThicknessMinimum!==void 0&&(n.iridescenceThicknessMinimum=this.iridescenceThicknessMinimum),this.iridescenceThicknessMaximum!==void 0&&(n.iridescenceThicknessMaximum=this.iridescenceThicknessMaximum),this.iridescenceMap&&this.iridescenceMap.isTexture&&(n.iridescenceMap=this.iridescenceMap.toJSON(t).uuid),this.iridescenceThicknessMap&&this.iridescenceThicknessMap.isTexture&&(n.iridescenceThicknessMap=this.iridescenceThicknessMap.toJSON(t).uuid),this.anisotropy!==void 0&&(n.anisotropy=this.anisotropy),this.anisotropyRotation!==void 0&&(n.anisotropyRotation=this.anisotropyRotation),this.anisotropyMap&&this.anisotropyMap.isTexture&&(n.anisotropyMap=this.anisotropyMap.toJSON(t).uuid),this.map&&this.map.isTexture&&(n.map=this.map.toJSON(t).uuid),this.matcap&&this.matcap.isTexture&&(n.matcap=this.matcap.toJSON(t).uuid),this.alphaMap&&this.alphaMap.isTexture&&(n.alphaMap=this.alphaMap.toJSON(t).uuid),this.lightMap&&this.lightMap.isTexture&&(n.lightMap=this.lightMap.toJSON(t).uuid,n.lightMapIntensity=this.lightMapIntensity),this.aoMap&&this.aoMap.isTexture&&(n.aoMap=this.aoMap.toJSON(t).uuid,n.aoMapIntensity=this.aoMapIntensity),this.bumpMap&&this.bumpMap.isTexture&&(n.bumpMap=this.bumpMap.toJSON(t).uuid,n.bumpScale=this.bumpScale),this.normalMap&&this.normalMap.isTexture&&(n.normalMap=this.normalMap.toJSON(t).uuid,n.normalMapType=this.normalMapType,n.normalScale=this.normalScale.toArray()),this.displacementMap&&this.displacementMap.isTexture&&(n.displacementMap=this.displacementMap.toJSON(t).uuid,n.displacementScale=this.displacementScale,n.displacementBias=this.displacementBias),this.roughnessMap&&this.roughnessMap.isTexture&&(n.roughnessMap=this.roughnessMap.toJSON(t).uuid),this.metalnessMap&&this.metalnessMap.isTexture&&(n.metalnessMap=this.metalnessMap.toJSON(t).uuid),this.emissiveMap&&this.emissiveMap.isTexture&&(n.emissiveMap=this.emissiveMap.toJSON(t).uuid),this.specularMap&&this.specularMap.isTexture&&(n.specularMap=this.specularMap.toJSON(t).uuid),this.specularIntensityMap&&this.specularIntensityMap.isTexture&&(n.specularIntensityMap=this.specularIntensityMap.toJSON(t).uuid),this.specularColorMap&&this.specularColorMap.isTexture&&(n.specularColorMap=this.specularColorMap.toJSON(t).uuid),this.envMap&&this.envMap.isTexture&&(n.envMap=this.envMap.toJSON(t).uuid,this.combine!==void 0&&(n.combine=this.combine)),this.envMapRotation!==void 0&&(n.envMapRotation=this.envMapRotation.toArray()),this.envMapIntensity!==void 0&&(n.envMapIntensity=this.envMapIntensity),this.reflectivity!==void 0&&(n.reflectivity=this.reflectivity),this.refractionRatio!==void 0&&(n.refractionRatio=this.refractionRatio),this.gradientMap&&this.gradientMap.isTexture&&(n.gradientMap=this.gradientMap.toJSON(t).uuid),this.transmission!==void 0&&(n.transmission=this.transmission),this.transmissionMap&&this.transmissionMap.isTexture&&(n.transmissionMap=this.transmissionMap.toJSON(t).uuid),this.thickness!==void 0&&(n.thickness=this.thickness),this.thicknessMap&&this.thicknessMap.isTexture&&(n.thicknessMap=this.thicknessMap.toJSON(t).uuid),this.attenuationDistance!==void 0&&(n.attenuationDistance=this.attenuationDistance),this.attenuationColor!==void 0&&(n.attenuationColor=this.attenuationColor.getHex()),this.size!==void 0&&(n.size=this.size),this.sizeAttenuation!==void 0&&(n.sizeAttenuation=this.sizeAttenuation),Array.isArray(this.clippingPlanes)&&this.clippingPlanes.length>0&&(n.clippingPlanes=this.clippingPlanes.map(r=>r.toJSON())),this.rotation!==void 0&&(n.rotation=this.rotation),this.depthPacking!==void 0&&(n.depthPacking=this.depthPacking),this.linewidth!==void 0&&(n.linewidth=this.linewidth),this.linecap!==void 0&&(n.linecap=this.linecap),this.linejoin!==void 0&&(n.linejoin=this.linejoin),this.dashSize!==void 0&&(n.dashSize=this.dashSize),this.gapSize!==void 0&&(n.gapSize=this.gapSize),this.scale!==void 0&&(n.scale=this.scale),this.wireframe!==void 0&&(n.wireframe=this.wireframe),this.wireframeLinewidth!==void 0&&(n.wireframeLinewidth=this.wireframeLinewidth),this.wireframeLinecap!==void 0&&(n.wireframeLinecap=this.wireframeLinecap),this.wireframeLinejoin!==void 0&&(n.wireframeLinejoin=this.wireframeLinejoin),this.flatShading!==void 0&&(n.flatShading=this.flatShading),this.fog!==void 0&&(n.fog=this.fog),Object.keys(this.userData).length>0&&(n.userData=this.userData);function s(r){let o=[];for(let a in r){let l=r[a];delete l.metadata,o.push(l)}return o}if(e){let r=s(t.textures),o=s(t.images);r.length>0&&(n.textures=r),o.length>0&&(n.images=o)}return n}fromJSON(t,e){if(t.uuid!==void 0&&(this.uuid=t.uuid),t.name!==void 0&&(this.name=t.name),t.color!==void 0&&this.color!==void 0&&this.color.setHex(t.color),t.roughness!==void 0&&(this.roughness=t.roughness),t.metalness!==void 0&&(this.metalness=t.metalness),t.sheen!==void 0&&(this.sheen=t.sheen),t.sheenColor!==void 0&&(this.sheenColor=new ce().setHex(t.sheenColor)),t.sheenRoughness!==void 0&&(this.sheenRoughness=t.sheenRoughness),t.emissive!==void 0&&this.emissive!==void 0&&this.emissive.setHex(t.emissive),t.specular!==void 0&&this.specular!==void 0&&this.specular.setHex(t.specular),t.specularIntensity!==void 0&&(this.specularIntensity=t.specularIntensity),t.specularColor!==void 0&&this.specularColor!==void 0&&this.specularColor.setHex(t.specularColor),t.shininess!==void 0&&(this.shininess=t.shininess),t.clearcoat!==void 0&&(this.clearcoat=t.clearcoat),t.clearcoatRoughness!==void 0&&(this.clearcoatRoughness=t.clearcoatRoughness),t.diffuseRoughness!==void 0&&(this.diffuseRoughness=t.diffuseRoughness),t.dispersion!==void 0&&(this.dispersion=t.dispersion),t.retroreflectivity!==void 0&&(this.retroreflectivity=t.retroreflectivity),t.iridescence!==void 0&&(this.iridescence=t.iridescence),t.iridescenceIOR!==void 0&&(this.iridescenceIOR=t.iridescenceIOR),t.iridescenceThicknessMinimum!==void 0&&(this.iridescenceThicknessMinimum=t.iridescenceThicknessMinimum),t.iridescenceThicknessMaximum!==void 0&&(this.iridescenceThicknessMaximum=t.iridescenceThicknessMaximum),t.iridescenceThicknessRange!==void 0&&(this.iridescenceThicknessMinimum=t.iridescenceThicknessRange[0],this.iridescenceThicknessMaximum=t.iridescenceThicknessRange[1]),t.transmission!==void 0&&(this.transmission=t.transmission),t.thickness!==void 0&&(this.thickness=t.thickness),t.attenuationDistance!==void 0&&(this.attenuationDistance=t.attenuationDistance),t.attenuationColor!==void 0&&this.attenuationColor!==void 0&&this.attenuationColor.setHex(t.attenuationColor),t.anisotropy!==void 0&&(this.anisotropy=t.anisotropy),t.anisotropyRotation!==void 0&&(this.anisotropyRotation=t.anisotropyRotation),t.fog!==void 0&&(this.fog=t.fog),t.flatShading!==void 0&&(this.flatShading=t.flatShading),t.blending!==void 0&&(this.blending=t.blending),t.combine!==void 0&&(this.combine=t.combine),t.side!==void 0&&(this.side=t.side),t.shadowSide!==void 0&&(this.shadowSide=t.shadowSide),t.opacity!==void 0&&(this.opacity=t.opacity),t.transparent!==void 0&&(this.transparent=t.transparent),t.alphaTest!==void 0&&(this.alphaTest=t.alphaTest),t.alphaHash!==void 0&&(this.alphaHash=t.alphaHash),t.depthFunc!==void 0&&(this.depthFunc=t.depthFunc),t.depthTest!==void 0&&(this.depthTest=t.depthTest),t.depthWrite!==void 0&&(this.depthWrite=t.depthWrite),t.colorWrite!==void 0&&(this.colorWrite=t.colorWrite),t.clippingPlanes!==void 0&&(this.clippingPlanes=t.clippingPlanes.map(n=>new Ni().fromJSON(n))),t.clipIntersection!==void 0&&(this.clipIntersection=t.clipIntersection),t.clipShadows!==void 0&&(this.clipShadows=t.clipShadows),t.depthPacking!==void 0&&(this.depthPacking=t.depthPacking),t.blendSrc!==void 0&&(this.blendSrc=t.blendSrc),t.blendDst!==void 0&&(this.blendDst=t.blendDst),t.blendEquation!==void 0&&(this.blendEquation=t.blendEquation),t.blendSrcAlpha!==void 0&&(this.blendSrcAlpha=t.blendSrcAlpha),t.blendDstAlpha!==void 0&&(this.blendDstAlpha=t.blendDstAlpha),t.blendEquationAlpha!==void 0&&(this.blendEquationAlpha=t.blendEquationAlpha),t.blendColor!==void 0&&this.blendColor!==void 0&&this.blendColor.setHex(t.blendColor),t.blendAlpha!==void 0&&(this.blendAlpha=t.blendAlpha),t.stencilWriteMask!==void 0&&(this.stencilWriteMask=t.stencilWriteMask),t.stencilFunc!==void 0&&(this.stencilFunc=t.stencilFunc),t.stencilRef!==void 0&&(this.stencilRef=t.stencilRef),t.stencilFuncMask!==void 0&&(this.stencilFuncMask=t.stencilFuncMask),t.stencilFail!==void 0&&(this.stencilFail=t.stencilFail),t.stencilZFail!==void 0&&(this.stencilZFail=t.stencilZFail),t.stencilZPass!==void 0&&(this.stencilZPass=t.stencilZPass),t.stencilWrite!==void 0&&(this.stencilWrite=t.stencilWrite),t.wireframe!==void 0&&(this.wireframe=t.wireframe),t.wireframeLinewidth!==void 0&&(this.wireframeLinewidth=t.wireframeLinewidth),t.wireframeLinecap!==void 0&&(this.wireframeLinecap=t.wireframeLinecap),t.wireframeLinejoin!==void 0&&(this.wireframeLinejoin=t.wireframeLinejoin),t.rotation!==void 0&&(this.rotation=t.rotation),t.linewidth!==void 0&&(this.linewidth=t.linewidth),t.linecap!==void 0&&(this.linecap=t.linecap),t.linejoin!==void 0&&(this.linejoin=t.linejoin),t.dashSize!==void 0&&(this.dashSize=t.dashSize),t.gapSize!==void 0&&(this.gapSize=t.gapSize),t.scale!==void 0&&(this.scale=t.scale),t.polygonOffset!==void 0&&(this.polygonOffset=t.polygonOffset),t.polygonOffsetFactor!==void 0&&(this.polygonOffsetFactor=t.polygonOffsetFactor),t.polygonOffsetUnits!==void 0&&(this.polygonOffsetUnits=t.polygonOffsetUnits),t.dithering!==void 0&&(this.dithering=t.dithering),t.alphaToCoverage!==void 0&&(this.alphaToCoverage=t.alphaToCoverage),t.premultipliedAlpha!==void 0&&(this.premultipliedAlpha=t.premultipliedAlpha),t.forceSinglePass!==void 0&&(this.forceSinglePass=t.forceSinglePass),t.allowOverride!==void 0&&(this.allowOverride=t.allowOverride),t.visible!==void 0&&(this.visible=t.visible),t.toneMapped!==void 0&&(this.toneMapped=t.toneMapped),t.userData!==void 0&&(this.userData=t.userData),t.vertexColors!==void 0&&(typeof t.vertexColors=="number"?this.vertexColors=t.vertexColors>0:this.vertexColors=t.vertexColors),t.size!==void 0&&(this.size=t.size),t.sizeAttenuation!==void 0&&(this.sizeAttenuation=t.sizeAttenuation),t.map!==void 0&&(this.map=e[t.map]||null),t.matcap!==void 0&&(this.matcap=e[t.matcap]||null),t.alphaMap!==void 0&&(this.alphaMap=e[t.alphaMap]||null),t.bumpMap!==void 0&&(this.bumpMap=e[t.bumpMap]||null),t.bumpScale!==void 0&&(this.bumpScale=t.bumpScale),t.normalMap!==void 0&&(this.normalMap=e[t.normalMap]||null),t.normalMapType!==void 0&&(this.normalMapType=t.normalMapType),t.normalScale!==void 0){let n=t.normalScale;Array.isArray(n)===!1&&(n=[n,n]),this.normalScale=new Kt().fromArray(n)}return t.displacementMap!==void 0&&(this.displacementMap=e[t.displacementMap]||null),t.displacementScale!==void 0&&(this.displacementScale=t.displacementScale),t.displacementBias!==void 0&&(this.displacementBias=t.displacementBias),t.roughnessMap!==void 0&&(this.roughnessMap=e[t.roughnessMap]||null),t.metalnessMap!==void 0&&(this.metalnessMap=e[t.metalnessMap]||null),t.emissiveMap!==void 0&&(this.emissiveMap=e[t.emissiveMap]||null),t.emissiveIntensity!==void 0&&(this.emissiveIntensity=t.emissiveIntensity),t.specularMap!==void 0&&(this.specularMap=e[t.specularMap]||null),t.specularIntensityMap!==void 0&&(this.specularIntensityMap=e[t.specularIntensityMap]||null),t.specularColorMap!==void 0&&(this.specularColorMap=e[t.specularColorMap]||null),t.envMap!==void 0&&(this.envMap=e[t.envMap]||null),t.envMapRotation!==void 0&&this.envMapRotation.fromArray(t.envMapRotation),t.envMapIntensity!==void 0&&(this.envMapIntensity=t.envMapIntensity),t.reflectivity!==void 0&&(this.reflectivity=t.reflectivity),t.refractionRatio!==void 0&&(this.refractionRatio=t.refractionRatio),t.lightMap!==void 0&&(this.lightMap=e[t.lightMap]||null),t.lightMapIntensity!==void 0&&(this.lightMapIntensity=t.lightMapIntensity),t.aoMap!==void 0&&(this.aoMap=e[t.aoMap]||null),t.aoMapIntensity!==void 0&&(this.aoMapIntensity=t.aoMapIntensity),t.gradientMap!==void 0&&(this.gradientMap=e[t.gradientMap]||null),t.clearcoatMap!==void 0&&(this.clearcoatMap=e[t.clearcoatMap]||null),t.clearcoatRoughnessMap!==void 0&&(this.clearcoatRoughnessMap=e[t.clearcoatRoughnessMap]||null),t.clearcoatNormalMap!==void 0&&(this.clearcoatNormalMap=e[t.clearcoatNormalMap]||null),t.clearcoatNormalScale!==void 0&&(this.clearcoatNormalScale=new Kt().fromArray(t.clearcoatNormalScale)),t.diffuseRoughnessMap!==void 0&&(this.diffuseRoughnessMap=e[t.diffuseRoughnessMap]||null),t.iridescenceMap!==void 0&&(this.iridescenceMap=e[t.iridescenceMap]||null),t.iridescenceThicknessMap!==void 0&&(this.iridescenceThicknessMap=e[t.iridescenceThicknessMap]||null),t.transmissionMap!==void 0&&(this.transmissionMap=e[t.transmissionMap]||null),t.thicknessMap!==void 0&&(this.thicknessMap=e[t.thicknessMap]||null),t.anisotropyMap!==void 0&&(this.anisotropyMap=e[t.anisotropyMap]||null),t.sheenColorMap!==void 0&&(this.sheenColorMap=e[t.sheenColorMap]||null),t.sheenRoughnessMap!==void 0&&(this.sheenRoughnessMap=e[t.sheenRoughnessMap]||null),this}clone(){return new this.constructor().copy(this)}copy(t){this.name=t.name,this.blending=t.blending,this.side=t.side,this.vertexColors=t.vertexColors,this.opacity=t.opacity,this.transparent=t.transparent,this.blendSrc=t.blendSrc,this.blendDst=t.blendDst,this.blendEquation=t.blendEquation,this.blendSrcAlpha=t.blendSrcAlpha,this.blendDstAlpha=t.blendDstAlpha,this.blendEquationAlpha=t.blendEquationAlpha,this.blendColor.copy(t.blendColor),this.blendAlpha=t.blendAlpha,this.depthFunc=t.depthFunc,this.depthTest=t.depthTest,this.depthWrite=t.depthWrite,this.stencilWriteMask=t.stencilWriteMask,this.stencilFunc=t.stencilFunc,this.stencilRef=t.stencilRef,this.stencilFuncMask=t.stencilFuncMask,this.stencilFail=t.stencilFail,this.stencilZFail=t.stencilZFail,this.stencilZPass=t.stencilZPass,this.stencilWrite=t.stencilWrite;let e=t.clippingPlanes,n=null;if(e!==null){let s=e.length;n=new Array(s);for(let r=0;r!==s;++r)n[r]=e[r].clone()}return this.clippingPlanes=n,this.clipIntersection=t.clipIntersection,this.clipShadows=t.clipShadows,this.shadowSide=t.shadowSide,this.colorWrite=t.colorWrite,this.precision=t.precision,this.polygonOffset=t.polygonOffset,this.polygonOffsetFactor=t.polygonOffsetFactor,this.polygonOffsetUnits=t.polygonOffsetUnits,this.dithering=t.dithering,this.alphaTest=t.alphaTest,this.alphaHash=t.alphaHash,this.alphaToCoverage=t.alphaToCoverage,this.premultipliedAlpha=t.premultipliedAlpha,this.forceSinglePass=t.forceSinglePass,this.allowOverride=t.allowOverride,this.visible=t.visible,this.toneMapped=t.toneMapped,this.userData=JSON.parse(JSON.stringify(t.userData)),this}dispose(){this.dispatchEvent({type:"dispose"})}set needsUpdate(t){t===!0&&this.version++}};var gs=new O,sd=new O,Nl=new O,Ul=new O,pa=class{constructor(t=new O,e=new O(0,0,-1)){this.origin=t,this.direction=e}set(t,e){return this.origin.copy(t),this.direction.copy(e),this}copy(t){return this.origin.copy(t.origin),this.direction.copy(t.direction),this}at(t,e){return e.copy(this.origin).addScaledVector(this.direction,t)}lookAt(t){return this.direction.copy(t).sub(this.origin).normalize(),this}recast(t){return this.origin.copy(this.at(t,gs)),this}closestPointToPoint(t,e){e.subVectors(t,this.origin);let n=e.dot(this.direction);return n<0?e.copy(this.origin):e.copy(this.origin).addScaledVector(this.direction,n)}distanceToPoint(t){return Math.sqrt(this.distanceSqToPoint(t))}distanceSqToPoint(t){let e=gs.subVectors(t,this.origin).dot(this.direction);return e<0?this.origin.distanceToSquared(t):(gs.copy(this.origin).addScaledVector(this.direction,e),gs.distanceToSquared(t))}distanceSqToSegment(t,e,n,s){sd.copy(t).add(e).multiplyScalar(.5),Nl.copy(e).sub(t).normalize(),Ul.copy(this.origin).sub(sd);let r=t.distanceTo(e)*.5,o=-this.direction.dot(Nl),a=Ul.dot(this.direction),l=-Ul.dot(Nl),c=Ul.lengthSq(),h=Math.abs(1-o*o),d,u,f,g;if(h>0)if(d=o*l-a,u=o*a-l,g=r*h,d>=0)if(u>=-g)if(u<=g){let y=1/h;d*=y,u*=y,f=d*(d+o*u+2*a)+u*(o*d+u+2*l)+c}else u=r,d=Math.max(0,-(o*u+a)),f=-d*d+u*(u+2*l)+c;else u=-r,d=Math.max(0,-(o*u+a)),f=-d*d+u*(u+2*l)+c;else u<=-g?(d=Math.max(0,-(-o*r+a)),u=d>0?-r:Math.min(Math.max(-r,-l),r),f=-d*d+u*(u+2*l)+c):u<=g?(d=0,u=Math.min(Math.max(-r,-l),r),f=u*(u+2*l)+c):(d=Math.max(0,-(o*r+a)),u=d>0?r:Math.min(Math.max(-r,-l),r),f=-d*d+u*(u+2*l)+c);else u=o>0?-r:r,d=Math.max(0,-(o*u+a)),f=-d*d+u*(u+2*l)+c;return n&&n.copy(this.origin).addScaledVector(this.direction,d),s&&s.copy(sd).addScaledVector(Nl,u),f}intersectSphere(t,e){if(t.radius<0)return null;gs.subVectors(t.center,this.origin);let n=gs.dot(this.direction),s=gs.dot(gs)-n*n,r=t.radius*t.radius;if(s>r)return null;let o=Math.sqrt(r-s),a=n-o,l=n+o;return l<0?null:a<0?this.at(l,e):this.at(a,e)}intersectsSphere(t){return t.radius<0?!1:this.distanceSqToPoint(t.center)<=t.radius*t.radius}distanceToPlane(t){let e=t.normal.dot(this.direction);if(e===0)return t.distanceToPoint(this.origin)===0?0:null;let n=-(this.origin.dot(t.normal)+t.constant)/e;return n>=0?n:null}intersectPlane(t,e){let n=this.distanceToPlane(t);return n===null?null:this.at(n,e)}intersectsPlane(t){let e=t.distanceToPoint(this.origin);return e===0||t.normal.dot(this.direction)*e<0}intersectBox(t,e){let n,s,r,o,a,l,c=1/this.direction.x,h=1/this.direction.y,d=1/this.direction.z,u=this.origin;return c>=0?(n=(t.min.x-u.x)*c,s=(t.max.x-u.x)*c):(n=(t.max.x-u.x)*c,s=(t.min.x-u.x)*c),h>=0?(r=(t.min.y-u.y)*h,o=(t.max.y-u.y)*h):(r=(t.max.y-u.y)*h,o=(t.min.y-u.y)*h),n>o||r>s||((r>n||isNaN(n))&&(n=r),(o<s||isNaN(s))&&(s=o),d>=0?(a=(t.min.z-u.z)*d,l=(t.max.z-u.z)*d):(a=(t.max.z-u.z)*d,l=(t.min.z-u.z)*d),n>l||a>s)||((a>n||n!==n)&&(n=a),(l<s||s!==s)&&(s=l),s<0)?null:this.at(n>=0?n:s,e)}intersectsBox(t){return this.intersectBox(t,gs)!==null}intersectTriangle(t,e,n,s,r){let o=this.origin,a=this.direction,l=a.x,c=a.y,h=a.z,d=t.x-o.x,u=t.y-o.y,f=t.z-o.z,g=e.x-o.x,y=e.y-o.y,m=e.z-o.z,p=n.x-o.x,v=n.y-o.y,T=n.z-o.z,M=Math.abs(l),P=Math.abs(c),E=Math.abs(h),x,A,k,N,D,z,H,L,W,Y,G,lt;if(M>=P&&M>=E?(k=l,z=d,W=g,lt=p,l>=0?(x=c,A=h,N=u,D=f,H=y,L=m,Y=v,G=T):(x=h,A=c,N=f,D=u,H=m,L=y,Y=T,G=v)):P>=E?(k=c,z=u,W=y,lt=v,c>=0?(x=h,A=l,N=f,D=d,H=m,L=g,Y=T,G=p):(x=l,A=h,N=d,D=f,H=g,L=m,Y=p,G=T)):(k=h,z=f,W=m,lt=T,h>=0?(x=l,A=c,N=d,D=u,H=g,L=y,Y=p,G=v):(x=c,A=l,N=u,D=d,H=y,L=g,Y=v,G=p)),k===0)return null;let $=x/k,j=A/k,it=1/k,ut=N-$*z,ht=D-j*z,Q=H-$*W,mt=L-j*W,xt=Y-$*lt,Tt=G-j*lt,Mt=xt*mt-Tt*Q,Ht=ut*Tt-ht*xt,se=Q*ht-mt*ut;if(s){if(Mt<0||Ht<0||se<0)return null}else if((Mt<0||Ht<0||se<0)&&(Mt>0||Ht>0||se>0))return null;let Vt=Mt+Ht+se;if(Vt===0)return null;let ue=it*(Mt*z+Ht*W+se*lt);return(Vt>0?ue<0:ue>0)?null:this.at(ue/Vt,r)}applyMatrix4(t){return this.origin.applyMatrix4(t),this.direction.transformDirection(t),this}equals(t){return t.origin.equals(this.origin)&&t.direction.equals(this.direction)}clone(){return new this.constructor().copy(this)}},mo=class extends ys{constructor(t){super(),this.isMeshBasicMaterial=!0,this.type="MeshBasicMaterial",this.color=new ce(16777215),this.map=null,this.lightMap=null,this.lightMapIntensity=1,this.aoMap=null,this.aoMapIntensity=1,this.specularMap=null,this.alphaMap=null,this.envMap=null,this.envMapRotation=new vs,this.combine=Md,this.reflectivity=1,this.refractionRatio=.98,this.wireframe=!1,this.wireframeLinewidth=1,this.wireframeLinecap="round",this.wireframeLinejoin="round",this.fog=!0,this.setValues(t)}copy(t){return super.copy(t),this.color.copy(t.color),this.map=t.map,this.lightMap=t.lightMap,this.lightMapIntensity=t.lightMapIntensity,this.aoMap=t.aoMap,this.aoMapIntensity=t.aoMapIntensity,this.specularMap=t.specularMap,this.alphaMap=t.alphaMap,this.envMap=t.envMap,this.envMapRotation.copy(t.envMapRotation),this.combine=t.combine,this.reflectivity=t.reflectivity,this.refractionRatio=t.refractionRatio,this.wireframe=t.wireframe,this.wireframeLinewidth=t.wireframeLinewidth,this.wireframeLinecap=t.wireframeLinecap,this.wireframeLinejoin=t.wireframeLinejoin,this.fog=t.fog,this}},Zm=new ye,ur=new pa,Fl=new hi,Jm=new O,Ol=new O,Bl=new O,kl=new O,rd=new O,zl=new O,$m=new O,Vl=new O,xe=class extends Tn{constructor(t=new qe,e=new mo){super(),this.isMesh=!0,this.type="Mesh",this.geometry=t,this.material=e,this.morphTargetDictionary=void 0,this.morphTargetInfluences=void 0,this.count=1,this.updateMorphTargets()}copy(t,e){return super.copy(t,e),t.morphTargetInfluences!==void 0?this.morphTargetInfluences=t.morphTargetInfluences.slice():this.morphTargetInfluences=void 0,t.morphTargetDictionary!==void 0?this.morphTargetDictionary=Object.assign({},t.morphTargetDictionary):this.morphTargetDictionary=void 0,this.material=Array.isArray(t.material)?t.material.slice():t.material,this.geometry=t.geometry,this}updateMorphTargets(){let e=this.geometry.morphAttributes,n=Object.keys(e);if(n.length>0){let s=e[n[0]];if(s!==void 0){this.morphTargetInfluences=[],this.morphTargetDictionary={};for(let r=0,o=s.length;r<o;r++){let a=s[r].name||String(r);this.morphTargetInfluences.push(0),this.morphTargetDictionary[a]=r}}}}getVertexPosition(t,e){let n=this.geometry,s=n.attributes.position,r=n.morphAttributes.position,o=n.morphTargetsRelative;e.fromBufferAttribute(s,t);let a=this.morphTargetInfluences;if(r&&a){zl.set(0,0,0);for(let l=0,c=r.length;l<c;l++){let h=a[l],d=r[l];h!==0&&(rd.fromBufferAttribute(d,t),o?zl.addScaledVector(rd,h):zl.addScaledVector(rd.sub(e),h))}e.add(zl)}return e}intersectsFrustum(t){return t.intersectsObject(this)}raycast(t,e){let n=this.geometry,s=this.material,r=this.matrixWorld;s!==void 0&&(n.boundingSphere===null&&n.computeBoundingSphere(),Fl.copy(n.boundingSphere),Fl.applyMatrix4(r),ur.copy(t.ray).recast(t.near),!(Fl.containsPoint(ur.origin)===!1&&(ur.intersectSphere(Fl,Jm)===null||ur.origin.distanceToSquared(Jm)>(t.far-t.near)**2))&&(Zm.copy(r).invert(),ur.copy(t.ray).applyMatrix4(Zm),!(n.boundingBox!==null&&ur.intersectsBox(n.boundingBox)===!1)&&this._computeIntersections(t,e,ur)))}_computeIntersections(t,e,n){let s,r=this.geometry,o=this.material,a=r.index,l=r.attributes.position,c=r.attributes.uv,h=r.attributes.uv1,d=r.attributes.normal,u=r.groups,f=r.drawRange;if(a!==null)if(Array.isArray(o))for(let g=0,y=u.length;g<y;g++){let m=u[g],p=o[m.materialIndex],v=Math.max(m.start,f.start),T=Math.min(a.count,Math.min(m.start+m.count,f.start+f.count));for(let M=v,P=T;M<P;M+=3){let E=a.getX(M),x=a.getX(M+1),A=a.getX(M+2);s=Gl(this,p,t,n,c,h,d,E,x,A),s&&(s.faceIndex=Math.floor(M/3),s.face.materialIndex=m.materialIndex,e.push(s))}}else{let g=Math.max(0,f.start),y=Math.min(a.count,f.start+f.count);for(let m=g,p=y;m<p;m+=3){let v=a.getX(m),T=a.getX(m+1),M=a.getX(m+2);s=Gl(this,o,t,n,c,h,d,v,T,M),s&&(s.faceIndex=Math.floor(m/3),e.push(s))}}else if(l!==void 0)if(Array.isArray(o))for(let g=0,y=u.length;g<y;g++){let m=u[g],p=o[m.materialIndex],v=Math.max(m.start,f.start),T=Math.min(l.count,Math.min(m.start+m.count,f.start+f.count));for(let M=v,P=T;M<P;M+=3){let E=M,x=M+1,A=M+2;s=Gl(this,p,t,n,c,h,d,E,x,A),s&&(s.faceIndex=Math.floor(M/3),s.face.materialIndex=m.materialIndex,e.push(s))}}else{let g=Math.max(0,f.start),y=Math.min(l.count,f.start+f.count);for(let m=g,p=y;m<p;m+=3){let v=m,T=m+1,M=m+2;s=Gl(this,o,t,n,c,h,d,v,T,M),s&&(s.faceIndex=Math.floor(m/3),e.push(s))}}}};function ay(i,t,e,n,s,r,o,a){let l;if(t.side===Zn?l=n.intersectTriangle(o,r,s,!0,a):l=n.intersectTriangle(s,r,o,t.side===Ys,a),l===null)return null;Vl.copy(a),Vl.applyMatrix4(i.matrixWorld);let c=e.ray.origin.distanceTo(Vl);return c<e.near||c>e.far?null:{distance:c,point:Vl.clone(),object:i}}function Gl(i,t,e,n,s,r,o,a,l,c){i.getVertexPosition(a,Ol),i.getVertexPosition(l,Bl),i.getVertexPosition(c,kl);let h=ay(i,t,e,n,Ol,Bl,kl,$m);if(h){let d=new O;zs.getBarycoord($m,Ol,Bl,kl,d),s&&(h.uv=zs.getInterpolatedAttribute(s,a,l,c,d,new Kt)),r&&(h.uv1=zs.getInterpolatedAttribute(r,a,l,c,d,new Kt)),o&&(h.normal=zs.getInterpolatedAttribute(o,a,l,c,d,new O),h.normal.dot(n.direction)>0&&h.normal.multiplyScalar(-1));let u={a,b:l,c,normal:new O,materialIndex:0};zs.getNormal(Ol,Bl,kl,u.normal),h.face=u,h.barycoord=d}return h}var ma=class extends Kn{constructor(t=null,e=1,n=1,s,r,o,a,l,c=An,h=An,d,u){super(null,o,a,l,c,h,s,r,d,u),this.isDataTexture=!0,this.image={data:t,width:e,height:n},this.generateMipmaps=!1,this.flipY=!1,this.unpackAlignment=1}};var ga=class extends Xe{constructor(t,e,n,s=1){super(t,e,n),this.isInstancedBufferAttribute=!0,this.meshPerAttribute=s}copy(t){return super.copy(t),this.meshPerAttribute=t.meshPerAttribute,this}toJSON(){let t=super.toJSON();return t.meshPerAttribute=this.meshPerAttribute,t.isInstancedBufferAttribute=!0,t}},eo=new ye,Km=new ye,Hl=[],jm=new Cn,ly=new ye,jo=new xe,Qo=new hi,_a=class extends xe{constructor(t,e,n){super(t,e),this.isInstancedMesh=!0,this.instanceMatrix=new ga(new Float32Array(n*16),16),this.instanceColor=null,this.morphTexture=null,this.count=n,this.boundingBox=null,this.boundingSphere=null;for(let s=0;s<n;s++)this.setMatrixAt(s,ly)}computeBoundingBox(){let t=this.geometry,e=this.count;this.boundingBox===null&&(this.boundingBox=new Cn),t.boundingBox===null&&t.computeBoundingBox(),this.boundingBox.makeEmpty();for(let n=0;n<e;n++)this.getMatrixAt(n,eo),jm.copy(t.boundingBox).applyMatrix4(eo),this.boundingBox.union(jm)}computeBoundingSphere(){let t=this.geometry,e=this.count;this.boundingSphere===null&&(this.boundingSphere=new hi),t.boundingSphere===null&&t.computeBoundingSphere(),this.boundingSphere.makeEmpty();for(let n=0;n<e;n++)this.getMatrixAt(n,eo),Qo.copy(t.boundingSphere).applyMatrix4(eo),this.boundingSphere.union(Qo)}copy(t,e){return super.copy(t,e),this.instanceMatrix.copy(t.instanceMatrix),this.morphTexture=t.morphTexture!==null?t.morphTexture.clone():null,this.instanceColor=t.instanceColor!==null?t.instanceColor.clone():null,this.count=t.count,this.boundingBox=t.boundingBox!==null?t.boundingBox.clone():null,this.boundingSphere=t.boundingSphere!==null?t.boundingSphere.clone():null,this}getColorAt(t,e){return this.instanceColor===null?e.setRGB(1,1,1):e.fromArray(this.instanceColor.array,t*3)}getMatrixAt(t,e){return e.fromArray(this.instanceMatrix.array,t*16)}getMorphAt(t,e){let n=e.morphTargetInfluences,s=this.morphTexture.source.data.data,r=n.length+1,o=t*r+1;for(let a=0;a<n.length;a++)n[a]=s[o+a]}raycast(t,e){let n=this.matrixWorld,s=this.count;if(jo.geometry=this.geometry,jo.material=this.material,jo.material!==void 0&&(this.boundingSphere===null&&this.computeBoundingSphere(),Qo.copy(this.boundingSphere),Qo.applyMatrix4(n),t.ray.intersectsSphere(Qo)!==!1))for(let r=0;r<s;r++){this.getMatrixAt(r,eo),Km.multiplyMatrices(n,eo),jo.matrixWorld=Km,jo.raycast(t,Hl);for(let o=0,a=Hl.length;o<a;o++){let l=Hl[o];l.instanceId=r,l.object=this,e.push(l)}Hl.length=0}}setColorAt(t,e){return this.instanceColor===null&&(this.instanceColor=new ga(new Float32Array(this.instanceMatrix.count*3).fill(1),3)),e.toArray(this.instanceColor.array,t*3),this}setMatrixAt(t,e){return e.toArray(this.instanceMatrix.array,t*16),this}setMorphAt(t,e){let n=e.morphTargetInfluences,s=n.length+1;this.morphTexture===null&&(this.morphTexture=new ma(new Float32Array(s*this.count),s,this.count,Bc,bi));let r=this.morphTexture.source.data.data,o=0;for(let c=0;c<n.length;c++)o+=n[c];let a=this.geometry.morphTargetsRelative?1:1-o,l=s*t;return r[l]=a,r.set(n,l+1),this}updateMorphTargets(){}dispose(){super.dispose(),this.instanceMatrix.dispose(),this.instanceColor!==null&&this.instanceColor.dispose(),this.morphTexture!==null&&(this.morphTexture.dispose(),this.morphTexture=null)}},dr=new hi,cy=new Kt(.5,.5),Wl=new O,Vs=class{constructor(t=new Ni,e=new Ni,n=new Ni,s=new Ni,r=new Ni,o=new Ni){this.planes=[t,e,n,s,r,o]}set(t,e,n,s,r,o){let a=this.planes;return a[0].copy(t),a[1].copy(e),a[2].copy(n),a[3].copy(s),a[4].copy(r),a[5].copy(o),this}copy(t){let e=this.planes;for(let n=0;n<6;n++)e[n].copy(t.planes[n]);return this}setFromProjectionMatrix(t,e=yi,n=!1){let s=this.planes,r=t.elements,o=r[0],a=r[1],l=r[2],c=r[3],h=r[4],d=r[5],u=r[6],f=r[7],g=r[8],y=r[9],m=r[10],p=r[11],v=r[12],T=r[13],M=r[14],P=r[15];if(s[0].setComponents(c-o,f-h,p-g,P-v).normalize(),s[1].setComponents(c+o,f+h,p+g,P+v).normalize(),s[2].setComponents(c+a,f+d,p+y,P+T).normalize(),s[3].setComponents(c-a,f-d,p-y,P-T).normalize(),n)s[4].setComponents(l,u,m,M).normalize(),s[5].setComponents(c-l,f-u,p-m,P-M).normalize();else if(s[4].setComponents(c-l,f-u,p-m,P-M).normalize(),e===yi)s[5].setComponents(c+l,f+u,p+m,P+M).normalize();else if(e===co)s[5].setComponents(l,u,m,M).normalize();else throw new Error("THREE.Frustum.setFromProjectionMatrix(): Invalid coordinate system: "+e);return this}intersectsObject(t){if(t.boundingSphere!==void 0)t.boundingSphere===null&&t.computeBoundingSphere(),dr.copy(t.boundingSphere).applyMatrix4(t.matrixWorld);else{let e=t.geometry;e.boundingSphere===null&&e.computeBoundingSphere(),dr.copy(e.boundingSphere).applyMatrix4(t.matrixWorld)}return this.intersectsSphere(dr)}intersectsSprite(t){dr.center.set(0,0,0);let e=cy.distanceTo(t.center);return dr.radius=.7071067811865476+e,dr.applyMatrix4(t.matrixWorld),this.intersectsSphere(dr)}intersectsSphere(t){let e=this.planes,n=t.center,s=-t.radius;for(let r=0;r<6;r++)if(e[r].distanceToPoint(n)<s)return!1;return!0}intersectsBox(t){let e=this.planes;for(let n=0;n<6;n++){let s=e[n];if(Wl.x=s.normal.x>0?t.max.x:t.min.x,Wl.y=s.normal.y>0?t.max.y:t.min.y,Wl.z=s.normal.z>0?t.max.z:t.min.z,s.distanceToPoint(Wl)<0)return!1}return!0}containsPoint(t){let e=this.planes;for(let n=0;n<6;n++)if(e[n].distanceToPoint(t)<0)return!1;return!0}clone(){return new this.constructor().copy(this)}},Qm=new ye,fc=class i{constructor(){this.coordinateSystem=yi,this._frustums=[],this._count=0}setFromArrayCamera(t){let e=t.cameras,n=this._frustums;for(let s=0;s<e.length;s++){let r=e[s];Qm.multiplyMatrices(r.projectionMatrix,r.matrixWorldInverse),n[s]===void 0&&(n[s]=new Vs),n[s].setFromProjectionMatrix(Qm,r.coordinateSystem,r.reversedDepth)}return this._count=e.length,this}getFrustum(t){return this._frustums[t]}intersectsObject(t){let e=this._frustums;for(let n=0;n<this._count;n++)if(e[n].intersectsObject(t))return!0;return!1}intersectsSprite(t){let e=this._frustums;for(let n=0;n<this._count;n++)if(e[n].intersectsSprite(t))return!0;return!1}intersectsSphere(t){let e=this._frustums;for(let n=0;n<this._count;n++)if(e[n].intersectsSphere(t))return!0;return!1}intersectsBox(t){let e=this._frustums;for(let n=0;n<this._count;n++)if(e[n].intersectsBox(t))return!0;return!1}containsPoint(t){let e=this._frustums;for(let n=0;n<this._count;n++)if(e[n].containsPoint(t))return!0;return!1}copy(t){this.coordinateSystem=t.coordinateSystem;let e=this._frustums,n=t._frustums;for(let s=0;s<t._count;s++)e[s]===void 0&&(e[s]=new Vs),e[s].copy(n[s]);return this._count=t._count,this}clone(){return new i().copy(this)}};var Fi=class extends ys{constructor(t){super(),this.isLineBasicMaterial=!0,this.type="LineBasicMaterial",this.color=new ce(16777215),this.map=null,this.linewidth=1,this.linecap="round",this.linejoin="round",this.fog=!0,this.setValues(t)}copy(t){return super.copy(t),this.color.copy(t.color),this.map=t.map,this.linewidth=t.linewidth,this.linecap=t.linecap,this.linejoin=t.linejoin,this.fog=t.fog,this}},pc=new O,mc=new O,tg=new ye,ta=new pa,Xl=new hi,od=new O,eg=new O,fr=class extends Tn{constructor(t=new qe,e=new Fi){super(),this.isLine=!0,this.type="Line",this.geometry=t,this.material=e,this.morphTargetDictionary=void 0,this.morphTargetInfluences=void 0,this.updateMorphTargets()}copy(t,e){return super.copy(t,e),t.morphTargetInfluences!==void 0?this.morphTargetInfluences=t.morphTargetInfluences.slice():this.morphTargetInfluences=void 0,t.morphTargetDictionary!==void 0?this.morphTargetDictionary=Object.assign({},t.morphTargetDictionary):this.morphTargetDictionary=void 0,this.material=Array.isArray(t.material)?t.material.slice():t.material,this.geometry=t.geometry,this}computeLineDistances(){let t=this.geometry;if(t.index===null){let e=t.attributes.position,n=[0];for(let s=1,r=e.count;s<r;s++)pc.fromBufferAttribute(e,s-1),mc.fromBufferAttribute(e,s),n[s]=n[s-1],n[s]+=pc.distanceTo(mc);t.setAttribute("lineDistance",new Ce(n,1))}else qt("Line.computeLineDistances(): Computation only possible with non-indexed BufferGeometry.");return this}intersectsFrustum(t){return t.intersectsObject(this)}raycast(t,e){let n=this.geometry,s=this.matrixWorld,r=t.params.Line.threshold,o=n.drawRange;if(n.boundingSphere===null&&n.computeBoundingSphere(),Xl.copy(n.boundingSphere),Xl.applyMatrix4(s),Xl.radius+=r,t.ray.intersectsSphere(Xl)===!1)return;tg.copy(s).invert(),ta.copy(t.ray).applyMatrix4(tg);let a=r/((this.scale.x+this.scale.y+this.scale.z)/3),l=a*a,c=this.isLineSegments?2:1,h=n.index,u=n.attributes.position;if(h!==null){let f=Math.max(0,o.start),g=Math.min(h.count,o.start+o.count);for(let y=f,m=g-1;y<m;y+=c){let p=h.getX(y),v=h.getX(y+1),T=ql(this,t,ta,l,p,v,y);T&&e.push(T)}if(this.isLineLoop){let y=h.getX(g-1),m=h.getX(f),p=ql(this,t,ta,l,y,m,g-1);p&&e.push(p)}}else{let f=Math.max(0,o.start),g=Math.min(u.count,o.start+o.count);for(let y=f,m=g-1;y<m;y+=c){let p=ql(this,t,ta,l,y,y+1,y);p&&e.push(p)}if(this.isLineLoop){let y=ql(this,t,ta,l,g-1,f,g-1);y&&e.push(y)}}}updateMorphTargets(){let e=this.geometry.morphAttributes,n=Object.keys(e);if(n.length>0){let s=e[n[0]];if(s!==void 0){this.morphTargetInfluences=[],this.morphTargetDictionary={};for(let r=0,o=s.length;r<o;r++){let a=s[r].name||String(r);this.morphTargetInfluences.push(0),this.morphTargetDictionary[a]=r}}}}};function ql(i,t,e,n,s,r,o){let a=i.geometry.attributes.position;if(pc.fromBufferAttribute(a,s),mc.fromBufferAttribute(a,r),e.distanceSqToSegment(pc,mc,od,eg)>n)return;od.applyMatrix4(i.matrixWorld);let c=t.ray.origin.distanceTo(od);if(!(c<t.near||c>t.far))return{distance:c,point:eg.clone().applyMatrix4(i.matrixWorld),index:o,face:null,faceIndex:null,barycoord:null,object:i}}var ng=new O,ig=new O,pr=class extends fr{constructor(t,e){super(t,e),this.isLineSegments=!0,this.type="LineSegments"}computeLineDistances(){let t=this.geometry;if(t.index===null){let e=t.attributes.position,n=[];for(let s=0,r=e.count;s<r;s+=2)ng.fromBufferAttribute(e,s),ig.fromBufferAttribute(e,s+1),n[s]=s===0?0:n[s-1],n[s+1]=n[s]+ng.distanceTo(ig);t.setAttribute("lineDistance",new Ce(n,1))}else qt("LineSegments.computeLineDistances(): Computation only possible with non-indexed BufferGeometry.");return this}},xa=class extends fr{constructor(t,e){super(t,e),this.isLineLoop=!0,this.type="LineLoop"}};var va=class extends Kn{constructor(t=[],e=_r,n,s,r,o,a,l,c,h){super(t,e,n,s,r,o,a,l,c,h),this.isCubeTexture=!0,this.flipY=!1}get images(){return this.image}set images(t){this.image=t}};var Ss=class extends Kn{constructor(t,e,n=Oi,s,r,o,a=An,l=An,c,h=xs,d=1){if(h!==xs&&h!==bs)throw new Error("THREE.DepthTexture: format must be either THREE.DepthFormat or THREE.DepthStencilFormat");let u={width:t,height:e,depth:d};super(u,s,r,o,a,l,h,n,c),this.isDepthTexture=!0,this.flipY=!1,this.generateMipmaps=!1,this.compareFunction=null}copy(t){return super.copy(t),this.source=new fo(Object.assign({},t.image)),this.compareFunction=t.compareFunction,this}toJSON(t){let e=super.toJSON(t);return e.compareFunction=this.compareFunction,e}},ya=class extends Ss{constructor(t,e=Oi,n=_r,s,r,o=An,a=An,l,c=xs){let h={width:t,height:t,depth:1},d=[h,h,h,h,h,h];super(t,t,e,n,s,r,o,a,l,c),this.image=d,this.isCubeDepthTexture=!0,this.isCubeTexture=!0}get images(){return this.image}set images(t){this.image=t}},Sa=class extends Kn{constructor(t=null){super(),this.sourceTexture=t,this.isExternalTexture=!0}copy(t){return super.copy(t),this.sourceTexture=t.sourceTexture,this}},Gs=class i extends qe{constructor(t=1,e=1,n=1,s=1,r=1,o=1){super(),this.type="BoxGeometry",this.parameters={width:t,height:e,depth:n,widthSegments:s,heightSegments:r,depthSegments:o};let a=this;s=Math.floor(s),r=Math.floor(r),o=Math.floor(o);let l=[],c=[],h=[],d=[],u=0,f=0;g("z","y","x",-1,-1,n,e,t,o,r,0),g("z","y","x",1,-1,n,e,-t,o,r,1),g("x","z","y",1,1,t,n,e,s,o,2),g("x","z","y",1,-1,t,n,-e,s,o,3),g("x","y","z",1,-1,t,e,n,s,r,4),g("x","y","z",-1,-1,t,e,-n,s,r,5),this.setIndex(l),this.setAttribute("position",new Ce(c,3)),this.setAttribute("normal",new Ce(h,3)),this.setAttribute("uv",new Ce(d,2));function g(y,m,p,v,T,M,P,E,x,A,k){let N=M/x,D=P/A,z=M/2,H=P/2,L=E/2,W=x+1,Y=A+1,G=0,lt=0,$=new O;for(let j=0;j<Y;j++){let it=j*D-H;for(let ut=0;ut<W;ut++){let ht=ut*N-z;$[y]=ht*v,$[m]=it*T,$[p]=L,c.push($.x,$.y,$.z),$[y]=0,$[m]=0,$[p]=E>0?1:-1,h.push($.x,$.y,$.z),d.push(ut/x),d.push(1-j/A),G+=1}}for(let j=0;j<A;j++)for(let it=0;it<x;it++){let ut=u+it+W*j,ht=u+it+W*(j+1),Q=u+(it+1)+W*(j+1),mt=u+(it+1)+W*j;l.push(ut,ht,mt),l.push(ht,Q,mt),lt+=6}a.addGroup(f,lt,k),f+=lt,u+=G}}copy(t){return super.copy(t),this.parameters=Object.assign({},t.parameters),this}static fromJSON(t){return new i(t.width,t.height,t.depth,t.widthSegments,t.heightSegments,t.depthSegments)}};var Ma=class i extends qe{constructor(t=1,e=32,n=0,s=Math.PI*2){super(),this.type="CircleGeometry",this.parameters={radius:t,segments:e,thetaStart:n,thetaLength:s},e=Math.max(3,e);let r=[],o=[],a=[],l=[],c=new O,h=new Kt;o.push(0,0,0),a.push(0,0,1),l.push(.5,.5);for(let d=0,u=3;d<=e;d++,u+=3){let f=n+d/e*s;c.x=t*Math.cos(f),c.y=t*Math.sin(f),o.push(c.x,c.y,c.z),a.push(0,0,1),h.x=(o[u]/t+1)/2,h.y=(o[u+1]/t+1)/2,l.push(h.x,h.y)}for(let d=1;d<=e;d++)r.push(d,d+1,0);this.setIndex(r),this.setAttribute("position",new Ce(o,3)),this.setAttribute("normal",new Ce(a,3)),this.setAttribute("uv",new Ce(l,2))}copy(t){return super.copy(t),this.parameters=Object.assign({},t.parameters),this}static fromJSON(t){return new i(t.radius,t.segments,t.thetaStart,t.thetaLength)}},ui=class i extends qe{constructor(t=1,e=1,n=1,s=32,r=1,o=!1,a=0,l=Math.PI*2){super(),this.type="CylinderGeometry",this.parameters={radiusTop:t,radiusBottom:e,height:n,radialSegments:s,heightSegments:r,openEnded:o,thetaStart:a,thetaLength:l};let c=this;s=Math.floor(s),r=Math.floor(r);let h=[],d=[],u=[],f=[],g=0,y=[],m=n/2,p=0;v(),o===!1&&(t>0&&T(!0),e>0&&T(!1)),this.setIndex(h),this.setAttribute("position",new Ce(d,3)),this.setAttribute("normal",new Ce(u,3)),this.setAttribute("uv",new Ce(f,2));function v(){let M=new O,P=new O,E=0,x=(e-t)/n;for(let A=0;A<=r;A++){let k=[],N=A/r,D=N*(e-t)+t;for(let z=0;z<=s;z++){let H=z/s,L=H*l+a,W=Math.sin(L),Y=Math.cos(L);P.x=D*W,P.y=-N*n+m,P.z=D*Y,d.push(P.x,P.y,P.z),M.set(W,x,Y).normalize(),u.push(M.x,M.y,M.z),f.push(H,1-N),k.push(g++)}y.push(k)}for(let A=0;A<s;A++)for(let k=0;k<r;k++){let N=y[k][A],D=y[k+1][A],z=y[k+1][A+1],H=y[k][A+1];(t>0||k!==0)&&(h.push(N,D,H),E+=3),(e>0||k!==r-1)&&(h.push(D,z,H),E+=3)}c.addGroup(p,E,0),p+=E}function T(M){let P=g,E=new Kt,x=new O,A=0,k=M===!0?t:e,N=M===!0?1:-1;for(let z=1;z<=s;z++)d.push(0,m*N,0),u.push(0,N,0),f.push(.5,.5),g++;let D=g;for(let z=0;z<=s;z++){let L=z/s*l+a,W=Math.cos(L),Y=Math.sin(L);x.x=k*Y,x.y=m*N,x.z=k*W,d.push(x.x,x.y,x.z),u.push(0,N,0),E.x=W*.5+.5,E.y=Y*.5*N+.5,f.push(E.x,E.y),g++}for(let z=0;z<s;z++){let H=P+z,L=D+z;M===!0?h.push(L,L+1,H):h.push(L+1,L,H),A+=3}c.addGroup(p,A,M===!0?1:2),p+=A}}copy(t){return super.copy(t),this.parameters=Object.assign({},t.parameters),this}static fromJSON(t){return new i(t.radiusTop,t.radiusBottom,t.height,t.radialSegments,t.heightSegments,t.openEnded,t.thetaStart,t.thetaLength)}},ba=class i extends ui{constructor(t=1,e=1,n=32,s=1,r=!1,o=0,a=Math.PI*2){super(0,t,e,n,s,r,o,a),this.type="ConeGeometry",this.parameters={radius:t,height:e,radialSegments:n,heightSegments:s,openEnded:r,thetaStart:o,thetaLength:a}}static fromJSON(t){return new i(t.radius,t.height,t.radialSegments,t.heightSegments,t.openEnded,t.thetaStart,t.thetaLength)}};var gc=class{constructor(){this.type="Curve",this.arcLengthDivisions=200,this.needsUpdate=!1,this.cacheArcLengths=null}getPoint(){qt("Curve: .getPoint() not implemented.")}getPointAt(t,e){let n=this.getUtoTmapping(t);return this.getPoint(n,e)}getPoints(t=5){let e=[];for(let n=0;n<=t;n++)e.push(this.getPoint(n/t));return e}getSpacedPoints(t=5){let e=[];for(let n=0;n<=t;n++)e.push(this.getPointAt(n/t));return e}getLength(){let t=this.getLengths();return t[t.length-1]}getLengths(t=this.arcLengthDivisions){if(this.cacheArcLengths&&this.cacheArcLengths.length===t+1&&!this.needsUpdate)return this.cacheArcLengths;this.needsUpdate=!1;let e=[],n,s=this.getPoint(0),r=0;e.push(0);for(let o=1;o<=t;o++)n=this.getPoint(o/t),r+=n.distanceTo(s),e.push(r),s=n;return this.cacheArcLengths=e,e}updateArcLengths(){this.needsUpdate=!0,this.getLengths()}getUtoTmapping(t,e=null){let n=this.getLengths(),s=0,r=n.length,o;e?o=e:o=t*n[r-1];let a=0,l=r-1,c;for(;a<=l;)if(s=Math.floor(a+(l-a)/2),c=n[s]-o,c<0)a=s+1;else if(c>0)l=s-1;else{l=s;break}if(s=l,n[s]===o)return s/(r-1);let h=n[s],u=n[s+1]-h,f=(o-h)/u;return(s+f)/(r-1)}getTangent(t,e){let s=t-1e-4,r=t+1e-4;s<0&&(s=0),r>1&&(r=1);let o=this.getPoint(s),a=this.getPoint(r),l=e||(o.isVector2?new Kt:new O);return l.copy(a).sub(o).normalize(),l}getTangentAt(t,e){let n=this.getUtoTmapping(t);return this.getTangent(n,e)}computeFrenetFrames(t,e=!1){let n=new O,s=[],r=[],o=[],a=new O,l=new ye;for(let f=0;f<=t;f++){let g=f/t;s[f]=this.getTangentAt(g,new O)}r[0]=new O,o[0]=new O;let c=Number.MAX_VALUE,h=Math.abs(s[0].x),d=Math.abs(s[0].y),u=Math.abs(s[0].z);h<=c&&(c=h,n.set(1,0,0)),d<=c&&(c=d,n.set(0,1,0)),u<=c&&n.set(0,0,1),a.crossVectors(s[0],n).normalize(),r[0].crossVectors(s[0],a),o[0].crossVectors(s[0],r[0]);for(let f=1;f<=t;f++){if(r[f]=r[f-1].clone(),o[f]=o[f-1].clone(),a.crossVectors(s[f-1],s[f]),a.length()>Number.EPSILON){a.normalize();let g=Math.acos(ie(s[f-1].dot(s[f]),-1,1));r[f].applyMatrix4(l.makeRotationAxis(a,g))}o[f].crossVectors(s[f],r[f])}if(e===!0){let f=Math.acos(ie(r[0].dot(r[t]),-1,1));f/=t,s[0].dot(a.crossVectors(r[0],r[t]))>0&&(f=-f);for(let g=1;g<=t;g++)r[g].applyMatrix4(l.makeRotationAxis(s[g],f*g)),o[g].crossVectors(s[g],r[g])}return{tangents:s,normals:r,binormals:o}}clone(){return new this.constructor().copy(this)}copy(t){return this.arcLengthDivisions=t.arcLengthDivisions,this.cacheArcLengths=null,this}toJSON(){let t={metadata:{version:4.7,type:"Curve",generator:"Curve.toJSON"}};return t.arcLengthDivisions=this.arcLengthDivisions,t.type=this.type,t}fromJSON(t){return this.arcLengthDivisions=t.arcLengthDivisions,this.cacheArcLengths=null,this}};function sg(i,t,e,n,s){let r=(n-t)*.5,o=(s-e)*.5,a=i*i,l=i*a;return(2*e-2*n+r+o)*l+(-3*e+3*n-2*r-o)*a+r*i+e}var wa=class extends gc{constructor(t=[]){super(),this.isSplineCurve=!0,this.type="SplineCurve",this.points=t}getPoint(t,e=new Kt){let n=e,s=this.points,r=(s.length-1)*t,o=Math.floor(r),a=r-o,l=s[o===0?o:o-1],c=s[o],h=s[o>s.length-2?s.length-1:o+1],d=s[o>s.length-3?s.length-1:o+2];return n.set(sg(a,l.x,c.x,h.x,d.x),sg(a,l.y,c.y,h.y,d.y)),n}copy(t){super.copy(t),this.points=[];for(let e=0,n=t.points.length;e<n;e++){let s=t.points[e];this.points.push(s.clone())}return this}toJSON(){let t=super.toJSON();t.points=[];for(let e=0,n=this.points.length;e<n;e++){let s=this.points[e];t.points.push(s.toArray())}return t}fromJSON(t){super.fromJSON(t),this.points=[];for(let e=0,n=t.points.length;e<n;e++){let s=t.points[e];this.points.push(new Kt().fromArray(s))}return this}};var Aa=class i extends qe{constructor(t=[new Kt(0,-.5),new Kt(.5,0),new Kt(0,.5)],e=12,n=0,s=Math.PI*2){super(),this.type="LatheGeometry",this.parameters={points:t,segments:e,phiStart:n,phiLength:s},e=Math.floor(e),s=ie(s,0,Math.PI*2);let r=[],o=[],a=[],l=[],c=[],h=1/e,d=new O,u=new Kt,f=new O,g=new O,y=new O,m=0,p=0;for(let v=0;v<=t.length-1;v++)switch(v){case 0:m=t[v+1].x-t[v].x,p=t[v+1].y-t[v].y,f.x=p*1,f.y=-m,f.z=p*0,y.copy(f),f.normalize(),l.push(f.x,f.y,f.z);break;case t.length-1:y.normalize(),l.push(y.x,y.y,y.z);break;default:m=t[v+1].x-t[v].x,p=t[v+1].y-t[v].y,f.x=p*1,f.y=-m,f.z=p*0,g.copy(f),f.x+=y.x,f.y+=y.y,f.z+=y.z,f.normalize(),l.push(f.x,f.y,f.z),y.copy(g)}for(let v=0;v<=e;v++){let T=n+v*h*s,M=Math.sin(T),P=Math.cos(T);for(let E=0;E<=t.length-1;E++){d.x=t[E].x*M,d.y=t[E].y,d.z=t[E].x*P,o.push(d.x,d.y,d.z),u.x=v/e,u.y=E/(t.length-1),a.push(u.x,u.y);let x=l[3*E+0]*M,A=l[3*E+1],k=l[3*E+0]*P;c.push(x,A,k)}}for(let v=0;v<e;v++)for(let T=0;T<t.length-1;T++){let M=T+v*t.length,P=M,E=M+t.length,x=M+t.length+1,A=M+1;r.push(P,E,A),r.push(x,A,E)}this.setIndex(r),this.setAttribute("position",new Ce(o,3)),this.setAttribute("uv",new Ce(a,2)),this.setAttribute("normal",new Ce(c,3))}copy(t){return super.copy(t),this.parameters=Object.assign({},t.parameters),this}static fromJSON(t){return new i(t.points,t.segments,t.phiStart,t.phiLength)}};var Ea=class i extends qe{constructor(t=1,e=1,n=1,s=1){super(),this.type="PlaneGeometry",this.parameters={width:t,height:e,widthSegments:n,heightSegments:s};let r=t/2,o=e/2,a=Math.floor(n),l=Math.floor(s),c=a+1,h=l+1,d=t/a,u=e/l,f=[],g=[],y=[],m=[];for(let p=0;p<h;p++){let v=p*u-o;for(let T=0;T<c;T++){let M=T*d-r;g.push(M,-v,0),y.push(0,0,1),m.push(T/a),m.push(1-p/l)}}for(let p=0;p<l;p++)for(let v=0;v<a;v++){let T=v+c*p,M=v+c*(p+1),P=v+1+c*(p+1),E=v+1+c*p;f.push(T,M,E),f.push(M,P,E)}this.setIndex(f),this.setAttribute("position",new Ce(g,3)),this.setAttribute("normal",new Ce(y,3)),this.setAttribute("uv",new Ce(m,2))}copy(t){return super.copy(t),this.parameters=Object.assign({},t.parameters),this}static fromJSON(t){return new i(t.width,t.height,t.widthSegments,t.heightSegments)}};var di=class i extends qe{constructor(t=1,e=32,n=16,s=0,r=Math.PI*2,o=0,a=Math.PI){super(),this.type="SphereGeometry",this.parameters={radius:t,widthSegments:e,heightSegments:n,phiStart:s,phiLength:r,thetaStart:o,thetaLength:a},e=Math.max(3,Math.floor(e)),n=Math.max(2,Math.floor(n));let l=Math.min(o+a,Math.PI),c=0,h=[],d=new O,u=new O,f=[],g=[],y=[],m=[];for(let p=0;p<=n;p++){let v=[],T=p/n,M=o+T*a,P=t*Math.cos(M),E=Math.sqrt(t*t-P*P),x=0;p===0&&o===0?x=.5/e:p===n&&l===Math.PI&&(x=-.5/e);for(let A=0;A<=e;A++){let k=A/e,N=s+k*r;d.x=-E*Math.cos(N),d.y=P,d.z=E*Math.sin(N),g.push(d.x,d.y,d.z),u.copy(d).normalize(),y.push(u.x,u.y,u.z),m.push(k+x,1-T),v.push(c++)}h.push(v)}for(let p=0;p<n;p++)for(let v=0;v<e;v++){let T=h[p][v+1],M=h[p][v],P=h[p+1][v],E=h[p+1][v+1];(p!==0||o>0)&&f.push(T,M,E),(p!==n-1||l<Math.PI)&&f.push(M,P,E)}this.setIndex(f),this.setAttribute("position",new Ce(g,3)),this.setAttribute("normal",new Ce(y,3)),this.setAttribute("uv",new Ce(m,2))}copy(t){return super.copy(t),this.parameters=Object.assign({},t.parameters),this}static fromJSON(t){return new i(t.radius,t.widthSegments,t.heightSegments,t.phiStart,t.phiLength,t.thetaStart,t.thetaLength)}};var Ta=class extends qe{constructor(t=null){if(super(),this.type="WireframeGeometry",this.parameters={geometry:t},t!==null){let e=[],n=new Set,s=new O,r=new O;if(t.index!==null){let o=t.attributes.position,a=t.index,l=t.groups;l.length===0&&(l=[{start:0,count:a.count,materialIndex:0}]);for(let c=0,h=l.length;c<h;++c){let d=l[c],u=d.start,f=d.count;for(let g=u,y=u+f;g<y;g+=3)for(let m=0;m<3;m++){let p=a.getX(g+m),v=a.getX(g+(m+1)%3);s.fromBufferAttribute(o,p),r.fromBufferAttribute(o,v),rg(s,r,n)===!0&&(e.push(s.x,s.y,s.z),e.push(r.x,r.y,r.z))}}}else{let o=t.attributes.position;for(let a=0,l=o.count/3;a<l;a++)for(let c=0;c<3;c++){let h=3*a+c,d=3*a+(c+1)%3;s.fromBufferAttribute(o,h),r.fromBufferAttribute(o,d),rg(s,r,n)===!0&&(e.push(s.x,s.y,s.z),e.push(r.x,r.y,r.z))}}this.setAttribute("position",new Ce(e,3))}}copy(t){return super.copy(t),this.parameters=Object.assign({},t.parameters),this}};function rg(i,t,e){let n=`${i.x},${i.y},${i.z}-${t.x},${t.y},${t.z}`,s=`${t.x},${t.y},${t.z}-${i.x},${i.y},${i.z}`;return e.has(n)===!0||e.has(s)===!0?!1:(e.add(n),e.add(s),!0)}function vr(i){let t={};for(let e in i){t[e]={};for(let n in i[e]){let s=i[e][n];if(og(s))s.isRenderTargetTexture?(qt("UniformsUtils: Textures of render targets cannot be cloned via cloneUniforms() or mergeUniforms()."),t[e][n]=null):t[e][n]=s.clone();else if(Array.isArray(s))if(og(s[0])){let r=[];for(let o=0,a=s.length;o<a;o++)r[o]=s[o].clone();t[e][n]=r}else t[e][n]=s.slice();else t[e][n]=s}}return t}function Bn(i){let t={};for(let e=0;e<i.length;e++){let n=vr(i[e]);for(let s in n)t[s]=n[s]}return t}function og(i){return i&&(i.isColor||i.isMatrix3||i.isMatrix4||i.isVector2||i.isVector3||i.isVector4||i.isTexture||i.isQuaternion)}function hy(i){let t=[];for(let e=0;e<i.length;e++)t.push(i[e].clone());return t}function Yd(i){let t=i.getRenderTarget();return t===null?i.outputColorSpace:t.isXRRenderTarget===!0?t.texture.colorSpace:_e.workingColorSpace}var Wa={clone:vr,merge:Bn},uy=`void main() {
	gl_Position = projectionMatrix * modelViewMatrix * vec4( position, 1.0 );
}`,dy=`void main() {
	gl_FragColor = vec4( 1.0, 0.0, 0.0, 1.0 );
}`,Si=class extends ys{constructor(t){super(),this.isShaderMaterial=!0,this.type="ShaderMaterial",this.defines={},this.uniforms={},this.uniformsGroups=[],this.vertexShader=uy,this.fragmentShader=dy,this.linewidth=1,this.wireframe=!1,this.wireframeLinewidth=1,this.fog=!1,this.lights=!1,this.clipping=!1,this.forceSinglePass=!0,this.extensions={clipCullDistance:!1,multiDraw:!1},this.defaultAttributeValues={color:[1,1,1],uv:[0,0],uv1:[0,0]},this.index0AttributeName=void 0,this.uniformsNeedUpdate=!1,this.glslVersion=null,t!==void 0&&this.setValues(t)}copy(t){return super.copy(t),this.fragmentShader=t.fragmentShader,this.vertexShader=t.vertexShader,this.uniforms=vr(t.uniforms),this.uniformsGroups=hy(t.uniformsGroups),this.defines=Object.assign({},t.defines),this.wireframe=t.wireframe,this.wireframeLinewidth=t.wireframeLinewidth,this.fog=t.fog,this.lights=t.lights,this.clipping=t.clipping,this.extensions=Object.assign({},t.extensions),this.glslVersion=t.glslVersion,this.defaultAttributeValues=Object.assign({},t.defaultAttributeValues),this.index0AttributeName=t.index0AttributeName,this.uniformsNeedUpdate=t.uniformsNeedUpdate,this}toJSON(t){let e=super.toJSON(t);e.glslVersion=this.glslVersion,e.uniforms={};for(let s in this.uniforms){let o=this.uniforms[s].value;o&&o.isTexture?e.uniforms[s]={type:"t",value:o.toJSON(t).uuid}:o&&o.isColor?e.uniforms[s]={type:"c",value:o.getHex()}:o&&o.isVector2?e.uniforms[s]={type:"v2",value:o.toArray()}:o&&o.isVector3?e.uniforms[s]={type:"v3",value:o.toArray()}:o&&o.isVector4?e.uniforms[s]={type:"v4",value:o.toArray()}:o&&o.isMatrix3?e.uniforms[s]={type:"m3",value:o.toArray()}:o&&o.isMatrix4?e.uniforms[s]={type:"m4",value:o.toArray()}:e.uniforms[s]={value:o}}Object.keys(this.defines).length>0&&(e.defines=this.defines),e.vertexShader=this.vertexShader,e.fragmentShader=this.fragmentShader,e.lights=this.lights,e.clipping=this.clipping;let n={};for(let s in this.extensions)this.extensions[s]===!0&&(n[s]=!0);return Object.keys(n).length>0&&(e.extensions=n),e}fromJSON(t,e){if(super.fromJSON(t,e),t.uniforms!==void 0)for(let n in t.uniforms){let s=t.uniforms[n];switch(this.uniforms[n]={},s.type){case"t":this.uniforms[n].value=e[s.value]||null;break;case"c":this.uniforms[n].value=new ce().setHex(s.value);break;case"v2":this.uniforms[n].value=new Kt().fromArray(s.value);break;case"v3":this.uniforms[n].value=new O().fromArray(s.value);break;case"v4":this.uniforms[n].value=new Re().fromArray(s.value);break;case"m3":this.uniforms[n].value=new te().fromArray(s.value);break;case"m4":this.uniforms[n].value=new ye().fromArray(s.value);break;default:this.uniforms[n].value=s.value}}if(t.defines!==void 0&&(this.defines=t.defines),t.vertexShader!==void 0&&(this.vertexShader=t.vertexShader),t.fragmentShader!==void 0&&(this.fragmentShader=t.fragmentShader),t.glslVersion!==void 0&&(this.glslVersion=t.glslVersion),t.extensions!==void 0)for(let n in t.extensions)this.extensions[n]=t.extensions[n];return t.lights!==void 0&&(this.lights=t.lights),t.clipping!==void 0&&(this.clipping=t.clipping),this}},_c=class extends Si{constructor(t){super(t),this.isRawShaderMaterial=!0,this.type="RawShaderMaterial"}},On=class extends ys{constructor(t){super(),this.isMeshStandardMaterial=!0,this.type="MeshStandardMaterial",this.defines={STANDARD:""},this.color=new ce(16777215),this.roughness=1,this.metalness=0,this.map=null,this.lightMap=null,this.lightMapIntensity=1,this.aoMap=null,this.aoMapIntensity=1,this.emissive=new ce(0),this.emissiveIntensity=1,this.emissiveMap=null,this.bumpMap=null,this.bumpScale=1,this.normalMap=null,this.normalMapType=xh,this.normalScale=new Kt(1,1),this.displacementMap=null,this.displacementScale=1,this.displacementBias=0,this.roughnessMap=null,this.metalnessMap=null,this.alphaMap=null,this.envMap=null,this.envMapRotation=new vs,this.envMapIntensity=1,this.wireframe=!1,this.wireframeLinewidth=1,this.wireframeLinecap="round",this.wireframeLinejoin="round",this.flatShading=!1,this.fog=!0,this.setValues(t)}copy(t){return super.copy(t),this.defines={STANDARD:""},this.color.copy(t.color),this.roughness=t.roughness,this.metalness=t.metalness,this.map=t.map,this.lightMap=t.lightMap,this.lightMapIntensity=t.lightMapIntensity,this.aoMap=t.aoMap,this.aoMapIntensity=t.aoMapIntensity,this.emissive.copy(t.emissive),this.emissiveMap=t.emissiveMap,this.emissiveIntensity=t.emissiveIntensity,this.bumpMap=t.bumpMap,this.bumpScale=t.bumpScale,this.normalMap=t.normalMap,this.normalMapType=t.normalMapType,this.normalScale.copy(t.normalScale),this.displacementMap=t.displacementMap,this.displacementScale=t.displacementScale,this.displacementBias=t.displacementBias,this.roughnessMap=t.roughnessMap,this.metalnessMap=t.metalnessMap,this.alphaMap=t.alphaMap,this.envMap=t.envMap,this.envMapRotation.copy(t.envMapRotation),this.envMapIntensity=t.envMapIntensity,this.wireframe=t.wireframe,this.wireframeLinewidth=t.wireframeLinewidth,this.wireframeLinecap=t.wireframeLinecap,this.wireframeLinejoin=t.wireframeLinejoin,this.flatShading=t.flatShading,this.fog=t.fog,this}};var xc=class extends ys{constructor(t){super(),this.isMeshDepthMaterial=!0,this.type="MeshDepthMaterial",this.depthPacking=Bg,this.map=null,this.alphaMap=null,this.displacementMap=null,this.displacementScale=1,this.displacementBias=0,this.wireframe=!1,this.wireframeLinewidth=1,this.setValues(t)}copy(t){return super.copy(t),this.depthPacking=t.depthPacking,this.map=t.map,this.alphaMap=t.alphaMap,this.displacementMap=t.displacementMap,this.displacementScale=t.displacementScale,this.displacementBias=t.displacementBias,this.wireframe=t.wireframe,this.wireframeLinewidth=t.wireframeLinewidth,this}},vc=class extends ys{constructor(t){super(),this.isMeshDistanceMaterial=!0,this.type="MeshDistanceMaterial",this.map=null,this.alphaMap=null,this.displacementMap=null,this.displacementScale=1,this.displacementBias=0,this.setValues(t)}copy(t){return super.copy(t),this.map=t.map,this.alphaMap=t.alphaMap,this.displacementMap=t.displacementMap,this.displacementScale=t.displacementScale,this.displacementBias=t.displacementBias,this}};function no(i,t){return!i||i.constructor===t?i:typeof t.BYTES_PER_ELEMENT=="number"?new t(i):Array.prototype.slice.call(i)}function Yl(i){return i!==void 0&&i.inTangents!==void 0&&i.outTangents!==void 0}var Hs=class{constructor(t,e,n,s){this.parameterPositions=t,this._cachedIndex=0,this.resultBuffer=s!==void 0?s:new e.constructor(n),this.sampleValues=e,this.valueSize=n,this.settings=null,this.DefaultSettings_={}}evaluate(t){let e=this.parameterPositions,n=this._cachedIndex,s=e[n],r=e[n-1];n:{t:{let o;e:{i:if(!(t<s)){for(let a=n+2;;){if(s===void 0){if(t<r)break i;return n=e.length,this._cachedIndex=n,this.copySampleValue_(n-1)}if(n===a)break;if(r=s,s=e[++n],t<s)break t}o=e.length;break e}if(!(t>=r)){let a=e[1];t<a&&(n=2,r=a);for(let l=n-2;;){if(r===void 0)return this._cachedIndex=0,this.copySampleValue_(0);if(n===l)break;if(s=r,r=e[--n-1],t>=r)break t}o=n,n=0;break e}break n}for(;n<o;){let a=n+o>>>1;t<e[a]?o=a:n=a+1}if(s=e[n],r=e[n-1],r===void 0)return this._cachedIndex=0,this.copySampleValue_(0);if(s===void 0)return n=e.length,this._cachedIndex=n,this.copySampleValue_(n-1)}this._cachedIndex=n,this.intervalChanged_(n,r,s)}return this.interpolate_(n,r,t,s)}getSettings_(){return this.settings||this.DefaultSettings_}copySampleValue_(t){let e=this.resultBuffer,n=this.sampleValues,s=this.valueSize,r=t*s;for(let o=0;o!==s;++o)e[o]=n[r+o];return e}interpolate_(){throw new Error("THREE.Interpolant: Call to abstract method.")}intervalChanged_(){}},yc=class extends Hs{constructor(t,e,n,s){super(t,e,n,s),this._weightPrev=-0,this._offsetPrev=-0,this._weightNext=-0,this._offsetNext=-0,this.DefaultSettings_={endingStart:hd,endingEnd:hd}}intervalChanged_(t,e,n){let s=this.parameterPositions,r=t-2,o=t+1,a=s[r],l=s[o];if(a===void 0)switch(this.getSettings_().endingStart){case ud:r=t,a=2*e-n;break;case dd:r=s.length-2,a=e+s[r]-s[r+1];break;default:r=t,a=n}if(l===void 0)switch(this.getSettings_().endingEnd){case ud:o=t,l=2*n-e;break;case dd:o=1,l=n+s[1]-s[0];break;default:o=t-1,l=e}let c=(n-e)*.5,h=this.valueSize;this._weightPrev=c/(e-a),this._weightNext=c/(l-n),this._offsetPrev=r*h,this._offsetNext=o*h}interpolate_(t,e,n,s){let r=this.resultBuffer,o=this.sampleValues,a=this.valueSize,l=t*a,c=l-a,h=this._offsetPrev,d=this._offsetNext,u=this._weightPrev,f=this._weightNext,g=(n-e)/(s-e),y=g*g,m=y*g,p=-u*m+2*u*y-u*g,v=(1+u)*m+(-1.5-2*u)*y+(-.5+u)*g+1,T=(-1-f)*m+(1.5+f)*y+.5*g,M=f*m-f*y;for(let P=0;P!==a;++P)r[P]=p*o[h+P]+v*o[c+P]+T*o[l+P]+M*o[d+P];return r}},Sc=class extends Hs{constructor(t,e,n,s){super(t,e,n,s)}interpolate_(t,e,n,s){let r=this.resultBuffer,o=this.sampleValues,a=this.valueSize,l=t*a,c=l-a,h=(n-e)/(s-e),d=1-h;for(let u=0;u!==a;++u)r[u]=o[c+u]*d+o[l+u]*h;return r}},Mc=class extends Hs{constructor(t,e,n,s){super(t,e,n,s)}interpolate_(t){return this.copySampleValue_(t-1)}},bc=class extends Hs{interpolate_(t,e,n,s){let r=this.resultBuffer,o=this.sampleValues,a=this.valueSize,l=t*a,c=l-a,h=this.inTangents,d=this.outTangents;if(!h||!d){let g=(n-e)/(s-e),y=1-g;for(let m=0;m!==a;++m)r[m]=o[c+m]*y+o[l+m]*g;return r}let u=a*2,f=t-1;for(let g=0;g!==a;++g){let y=o[c+g],m=o[l+g],p=f*u+g*2,v=d[p],T=d[p+1],M=t*u+g*2,P=h[M],E=h[M+1],x=py(n,e,v,P,s);r[g]=Kg(x,y,T,E,m)}return r}};function Kg(i,t,e,n,s){let r=1-i;return r*r*r*t+3*r*r*i*e+3*r*i*i*n+i*i*i*s}function fy(i,t,e,n,s){let r=1-i;return 3*r*r*(e-t)+6*r*i*(n-e)+3*i*i*(s-n)}function py(i,t,e,n,s){let r=(i-t)/(s-t);for(let o=0;o<8;o++){let a=Kg(r,t,e,n,s)-i;if(Math.abs(a)<1e-10)break;let l=fy(r,t,e,n,s);if(Math.abs(l)<1e-10)break;r=Math.max(0,Math.min(1,r-a/l))}return r}var fi=class{constructor(t,e,n,s){if(t===void 0)throw new Error("THREE.KeyframeTrack: track name is undefined");if(e===void 0||e.length===0)throw new Error("THREE.KeyframeTrack: no keyframes in track named "+t);this.name=t,this.times=no(e,this.TimeBufferType),this.values=no(n,this.ValueBufferType),this.setInterpolation(s||this.DefaultInterpolation)}static toJSON(t){let e=t.constructor,n;if(e.toJSON!==this.toJSON)n=e.toJSON(t);else{n={name:t.name,times:no(t.times,Array),values:no(t.values,Array)};let s=t.getInterpolation();s!==t.DefaultInterpolation&&(n.interpolation=s),Yl(t.settings)&&(n.settings={inTangents:no(t.settings.inTangents,Array),outTangents:no(t.settings.outTangents,Array)})}return n.type=t.ValueTypeName,n}InterpolantFactoryMethodDiscrete(t){return new Mc(this.times,this.values,this.getValueSize(),t)}InterpolantFactoryMethodLinear(t){return new Sc(this.times,this.values,this.getValueSize(),t)}InterpolantFactoryMethodSmooth(t){return new yc(this.times,this.values,this.getValueSize(),t)}InterpolantFactoryMethodBezier(t){let e=new bc(this.times,this.values,this.getValueSize(),t);return this.settings&&(e.inTangents=this.settings.inTangents,e.outTangents=this.settings.outTangents),e}setInterpolation(t){let e;switch(t){case sa:e=this.InterpolantFactoryMethodDiscrete;break;case lc:e=this.InterpolantFactoryMethodLinear;break;case Kl:e=this.InterpolantFactoryMethodSmooth;break;case cd:e=this.InterpolantFactoryMethodBezier;break}if(e===void 0){let n="unsupported interpolation for "+this.ValueTypeName+" keyframe track named "+this.name;if(this.createInterpolant===void 0)if(t!==this.DefaultInterpolation)this.setInterpolation(this.DefaultInterpolation);else throw new Error(n);return qt("KeyframeTrack:",n),this}return this.createInterpolant=e,this}getInterpolation(){switch(this.createInterpolant){case this.InterpolantFactoryMethodDiscrete:return sa;case this.InterpolantFactoryMethodLinear:return lc;case this.InterpolantFactoryMethodSmooth:return Kl;case this.InterpolantFactoryMethodBezier:return cd}}getValueSize(){return this.values.length/this.times.length}shift(t){if(t!==0){let e=this.times;for(let n=0,s=e.length;n!==s;++n)e[n]+=t;Yl(this.settings)&&(ag(this.settings.inTangents,t),ag(this.settings.outTangents,t))}return this}scale(t){if(t!==1){let e=this.times;for(let n=0,s=e.length;n!==s;++n)e[n]*=t;Yl(this.settings)&&(lg(this.settings.inTangents,t),lg(this.settings.outTangents,t))}return this}trim(t,e){let n=this.times,s=n.length,r=0,o=s-1;for(;r!==s&&n[r]<t;)++r;for(;o!==-1&&n[o]>e;)--o;if(++o,r!==0||o!==s){r>=o&&(o=Math.max(o,1),r=o-1);let a=this.getValueSize();this.times=n.slice(r,o),this.values=this.values.slice(r*a,o*a)}return this}validate(){let t=!0,e=this.getValueSize();e-Math.floor(e)!==0&&(Qt("KeyframeTrack: Invalid value size in track.",this),t=!1);let n=this.times,s=this.values,r=n.length;r===0&&(Qt("KeyframeTrack: Track is empty.",this),t=!1);let o=null;for(let a=0;a!==r;a++){let l=n[a];if(typeof l=="number"&&isNaN(l)){Qt("KeyframeTrack: Time is not a valid number.",this,a,l),t=!1;break}if(o!==null&&o>l){Qt("KeyframeTrack: Out of order keys.",this,a,l,o),t=!1;break}o=l}if(s!==void 0&&Rv(s))for(let a=0,l=s.length;a!==l;++a){let c=s[a];if(isNaN(c)){Qt("KeyframeTrack: Value is not a valid number.",this,a,c),t=!1;break}}return t}optimize(){let t=this.times.slice(),e=this.values.slice(),n=this.getValueSize(),s=this.getInterpolation()===Kl,r=t.length-1,o=1;for(let a=1;a<r;++a){let l=!1,c=t[a],h=t[a+1];if(c!==h&&(a!==1||c!==t[0]))if(s)l=!0;else{let d=a*n,u=d-n,f=d+n;for(let g=0;g!==n;++g){let y=e[d+g];if(y!==e[u+g]||y!==e[f+g]){l=!0;break}}}if(l){if(a!==o){t[o]=t[a];let d=a*n,u=o*n;for(let f=0;f!==n;++f)e[u+f]=e[d+f]}++o}}if(r>0){t[o]=t[r];for(let a=r*n,l=o*n,c=0;c!==n;++c)e[l+c]=e[a+c];++o}return o!==t.length?(this.times=t.slice(0,o),this.values=e.slice(0,o*n)):(this.times=t,this.values=e),this}clone(){let t=this.times.slice(),e=this.values.slice(),n=this.constructor,s=new n(this.name,t,e);return s.createInterpolant=this.createInterpolant,Yl(this.settings)&&(s.settings={inTangents:this.settings.inTangents.slice(),outTangents:this.settings.outTangents.slice()}),s}};function ag(i,t){for(let e=0,n=i.length;e!==n;e+=2)i[e]+=t}function lg(i,t){for(let e=0,n=i.length;e!==n;e+=2)i[e]*=t}fi.prototype.ValueTypeName="";fi.prototype.TimeBufferType=Float32Array;fi.prototype.ValueBufferType=Float32Array;fi.prototype.DefaultInterpolation=lc;var Ws=class extends fi{constructor(t,e,n){super(t,e,n)}};Ws.prototype.ValueTypeName="bool";Ws.prototype.ValueBufferType=Array;Ws.prototype.DefaultInterpolation=sa;Ws.prototype.InterpolantFactoryMethodLinear=void 0;Ws.prototype.InterpolantFactoryMethodSmooth=void 0;var wc=class extends fi{constructor(t,e,n,s){super(t,e,n,s)}};wc.prototype.ValueTypeName="color";var Ac=class extends fi{constructor(t,e,n,s){super(t,e,n,s)}};Ac.prototype.ValueTypeName="number";var Ec=class extends Hs{constructor(t,e,n,s){super(t,e,n,s)}interpolate_(t,e,n,s){let r=this.resultBuffer,o=this.sampleValues,a=this.valueSize,l=(n-e)/(s-e),c=t*a;for(let h=c+a;c!==h;c+=4)Fn.slerpFlat(r,0,o,c-a,o,c,l);return r}},Ca=class extends fi{constructor(t,e,n,s){super(t,e,n,s)}InterpolantFactoryMethodLinear(t){return new Ec(this.times,this.values,this.getValueSize(),t)}};Ca.prototype.ValueTypeName="quaternion";Ca.prototype.InterpolantFactoryMethodSmooth=void 0;var Xs=class extends fi{constructor(t,e,n){super(t,e,n)}};Xs.prototype.ValueTypeName="string";Xs.prototype.ValueBufferType=Array;Xs.prototype.DefaultInterpolation=sa;Xs.prototype.InterpolantFactoryMethodLinear=void 0;Xs.prototype.InterpolantFactoryMethodSmooth=void 0;var Tc=class extends fi{constructor(t,e,n,s){super(t,e,n,s)}};Tc.prototype.ValueTypeName="vector";var Cc=class{constructor(t,e,n){let s=this,r=!1,o=0,a=0,l,c=[];this.onStart=void 0,this.onLoad=t,this.onProgress=e,this.onError=n,this._abortController=null,this.itemStart=function(h){a++,r===!1&&s.onStart!==void 0&&s.onStart(h,o,a),r=!0},this.itemEnd=function(h){o++,s.onProgress!==void 0&&s.onProgress(h,o,a),o===a&&(r=!1,s.onLoad!==void 0&&s.onLoad())},this.itemError=function(h){s.onError!==void 0&&s.onError(h)},this.resolveURL=function(h){return h=h.normalize("NFC"),l?l(h):h},this.setURLModifier=function(h){return l=h,this},this.addHandler=function(h,d){return c.push(h,d),this},this.removeHandler=function(h){let d=c.indexOf(h);return d!==-1&&c.splice(d,2),this},this.getHandler=function(h){for(let d=0,u=c.length;d<u;d+=2){let f=c[d],g=c[d+1];if(f.global&&(f.lastIndex=0),f.test(h))return g}return null},this.abort=function(){return this.abortController.abort(),this._abortController=null,this}}get abortController(){return this._abortController||(this._abortController=new AbortController),this._abortController}},jg=new Cc,Rc=class{constructor(t){this.manager=t!==void 0?t:jg,this.crossOrigin="anonymous",this.withCredentials=!1,this.path="",this.resourcePath="",this.requestHeader={},this.priority="auto",this.cache="default",typeof __THREE_DEVTOOLS__<"u"&&__THREE_DEVTOOLS__.dispatchEvent(new CustomEvent("observe",{detail:this}))}load(){}loadAsync(t,e){let n=this;return new Promise(function(s,r){n.load(t,s,e,r)})}parse(){}setCrossOrigin(t){return this.crossOrigin=t,this}setWithCredentials(t){return this.withCredentials=t,this}setPath(t){return this.path=t,this}setResourcePath(t){return this.resourcePath=t,this}setRequestHeader(t){return this.requestHeader=t,this}setPriority(t){return this.priority=t,this}setCache(t){return this.cache=t,this}abort(){return this}};Rc.DEFAULT_MATERIAL_NAME="__DEFAULT";var Ra=class extends Tn{static registerNode(t){this.prototype._lightNode=t}constructor(t,e=1){super(),this.isLight=!0,this.type="Light",this.color=new ce(t),this.intensity=e}copy(t,e){return super.copy(t,e),this.color.copy(t.color),this.intensity=t.intensity,this}toJSON(t){let e=super.toJSON(t);return e.object.color=this.color.getHex(),e.object.intensity=this.intensity,e}},Pa=class extends Ra{constructor(t,e,n){super(t,n),this.isHemisphereLight=!0,this.type="HemisphereLight",this.position.copy(Tn.DEFAULT_UP),this.updateMatrix(),this.groundColor=new ce(e)}copy(t,e){return super.copy(t,e),this.groundColor.copy(t.groundColor),this}toJSON(t){let e=super.toJSON(t);return e.object.groundColor=this.groundColor.getHex(),e}},ad=new ye,cg=new O,hg=new O,Pc=class{constructor(t){this.camera=t,this.intensity=1,this.bias=0,this.biasNode=null,this.normalBias=0,this.radius=1,this.blurSamples=8,this.mapSize=new Kt(512,512),this.mapType=jn,this.map=null,this.mapPass=null,this.matrix=new ye,this.autoUpdate=!0,this.needsUpdate=!1,this._frustum=new Vs,this._frameExtents=new Kt(1,1),this._viewportCount=1,this._viewports=[new Re(0,0,1,1)]}getViewportCount(){return this._viewportCount}getCamera(){return this.camera}getFrustum(){return this._frustum}updateMatrices(t){let e=this.camera;cg.setFromMatrixPosition(t.matrixWorld),e.position.copy(cg),hg.setFromMatrixPosition(t.target.matrixWorld),e.lookAt(hg),e.updateMatrixWorld(),this._updateMatrix(e,this.matrix,this._frustum)}_updateMatrix(t,e,n,s){ad.multiplyMatrices(t.projectionMatrix,t.matrixWorldInverse),n.setFromProjectionMatrix(ad,t.coordinateSystem,t.reversedDepth);let r=this._frameExtents,o=s?s.z/r.x:1,a=s?s.w/r.y:1,l=s?s.x/r.x:0,c=s?s.y/r.y:0;t.coordinateSystem===co||t.reversedDepth?e.set(.5*o,0,0,.5*o+l,0,.5*a,0,.5*a+c,0,0,1,0,0,0,0,1):e.set(.5*o,0,0,.5*o+l,0,.5*a,0,.5*a+c,0,0,.5,.5,0,0,0,1),e.multiply(ad)}getViewport(t){return this._viewports[t]}getFrameExtents(){return this._frameExtents}dispose(){this.map&&this.map.dispose(),this.mapPass&&this.mapPass.dispose()}copy(t){return this.camera=t.camera.clone(),this.intensity=t.intensity,this.bias=t.bias,this.radius=t.radius,this.autoUpdate=t.autoUpdate,this.needsUpdate=t.needsUpdate,this.normalBias=t.normalBias,this.blurSamples=t.blurSamples,this.mapSize.copy(t.mapSize),this.mapType=t.mapType,this.biasNode=t.biasNode,this}clone(){return new this.constructor().copy(this)}toJSON(){let t={};return t.intensity=this.intensity,t.bias=this.bias,t.normalBias=this.normalBias,t.radius=this.radius,t.blurSamples=this.blurSamples,t.mapSize=this.mapSize.toArray(),t.mapType=this.mapType,t.camera=this.camera.toJSON(!1).object,delete t.camera.matrix,t}},Zl=new O,Jl=new Fn,$i=new O,Ia=class extends Tn{constructor(){super(),this.isCamera=!0,this.type="Camera",this.matrixWorldInverse=new ye,this.projectionMatrix=new ye,this.projectionMatrixInverse=new ye,this.coordinateSystem=yi,this._reversedDepth=!1}get reversedDepth(){return this._reversedDepth}copy(t,e){return super.copy(t,e),this.matrixWorldInverse.copy(t.matrixWorldInverse),this.projectionMatrix.copy(t.projectionMatrix),this.projectionMatrixInverse.copy(t.projectionMatrixInverse),this.coordinateSystem=t.coordinateSystem,this}getWorldDirection(t){return super.getWorldDirection(t).negate()}updateMatrixWorld(t){super.updateMatrixWorld(t),this.matrixWorld.decompose(Zl,Jl,$i),$i.x===1&&$i.y===1&&$i.z===1?this.matrixWorldInverse.copy(this.matrixWorld).invert():this.matrixWorldInverse.compose(Zl,Jl,$i.set(1,1,1)).invert()}updateWorldMatrix(t,e,n=!1){super.updateWorldMatrix(t,e,n),this.matrixWorld.decompose(Zl,Jl,$i),$i.x===1&&$i.y===1&&$i.z===1?this.matrixWorldInverse.copy(this.matrixWorld).invert():this.matrixWorldInverse.compose(Zl,Jl,$i.set(1,1,1)).invert()}clone(){return new this.constructor().copy(this)}},ks=new O,ug=new Kt,dg=new Kt,qn=class extends Ia{constructor(t=50,e=1,n=.1,s=2e3){super(),this.isPerspectiveCamera=!0,this.type="PerspectiveCamera",this.fov=t,this.zoom=1,this.near=n,this.far=s,this.focus=10,this.aspect=e,this.view=null,this.filmGauge=35,this.filmOffset=0,this.updateProjectionMatrix()}copy(t,e){return super.copy(t,e),this.fov=t.fov,this.zoom=t.zoom,this.near=t.near,this.far=t.far,this.focus=t.focus,this.aspect=t.aspect,this.view=t.view===null?null:Object.assign({},t.view),this.filmGauge=t.filmGauge,this.filmOffset=t.filmOffset,this}setFocalLength(t){let e=.5*this.getFilmHeight()/t;this.fov=uo*2*Math.atan(e),this.updateProjectionMatrix()}getFocalLength(){let t=Math.tan(na*.5*this.fov);return .5*this.getFilmHeight()/t}getEffectiveFOV(){return uo*2*Math.atan(Math.tan(na*.5*this.fov)/this.zoom)}getFilmWidth(){return this.filmGauge*Math.min(this.aspect,1)}getFilmHeight(){return this.filmGauge/Math.max(this.aspect,1)}getViewBounds(t,e,n){ks.set(-1,-1,.5).applyMatrix4(this.projectionMatrixInverse),e.set(ks.x,ks.y).multiplyScalar(-t/ks.z),ks.set(1,1,.5).applyMatrix4(this.projectionMatrixInverse),n.set(ks.x,ks.y).multiplyScalar(-t/ks.z)}getViewSize(t,e){return this.getViewBounds(t,ug,dg),e.subVectors(dg,ug)}setViewOffset(t,e,n,s,r,o){this.aspect=t/e,this.view===null&&(this.view={enabled:!0,fullWidth:1,fullHeight:1,offsetX:0,offsetY:0,width:1,height:1}),this.view.enabled=!0,this.view.fullWidth=t,this.view.fullHeight=e,this.view.offsetX=n,this.view.offsetY=s,this.view.width=r,this.view.height=o,this.updateProjectionMatrix()}clearViewOffset(){this.view!==null&&(this.view.enabled=!1),this.updateProjectionMatrix()}updateProjectionMatrix(){let t=this.near,e=t*Math.tan(na*.5*this.fov)/this.zoom,n=2*e,s=this.aspect*n,r=-.5*s,o=this.view;if(this.view!==null&&this.view.enabled){let l=o.fullWidth,c=o.fullHeight;r+=o.offsetX*s/l,e-=o.offsetY*n/c,s*=o.width/l,n*=o.height/c}let a=this.filmOffset;a!==0&&(r+=t*a/this.getFilmWidth()),this.projectionMatrix.makePerspective(r,r+s,e,e-n,t,this.far,this.coordinateSystem,this.reversedDepth),this.projectionMatrixInverse.copy(this.projectionMatrix).invert()}toJSON(t){let e=super.toJSON(t);return e.object.fov=this.fov,e.object.zoom=this.zoom,e.object.near=this.near,e.object.far=this.far,e.object.focus=this.focus,e.object.aspect=this.aspect,this.view!==null&&(e.object.view=Object.assign({},this.view)),e.object.filmGauge=this.filmGauge,e.object.filmOffset=this.filmOffset,e}};var La=class extends Ia{constructor(t=-1,e=1,n=1,s=-1,r=.1,o=2e3){super(),this.isOrthographicCamera=!0,this.type="OrthographicCamera",this.zoom=1,this.view=null,this.left=t,this.right=e,this.top=n,this.bottom=s,this.near=r,this.far=o,this.updateProjectionMatrix()}copy(t,e){return super.copy(t,e),this.left=t.left,this.right=t.right,this.top=t.top,this.bottom=t.bottom,this.near=t.near,this.far=t.far,this.zoom=t.zoom,this.view=t.view===null?null:Object.assign({},t.view),this}setViewOffset(t,e,n,s,r,o){this.view===null&&(this.view={enabled:!0,fullWidth:1,fullHeight:1,offsetX:0,offsetY:0,width:1,height:1}),this.view.enabled=!0,this.view.fullWidth=t,this.view.fullHeight=e,this.view.offsetX=n,this.view.offsetY=s,this.view.width=r,this.view.height=o,this.updateProjectionMatrix()}clearViewOffset(){this.view!==null&&(this.view.enabled=!1),this.updateProjectionMatrix()}updateProjectionMatrix(){let t=(this.right-this.left)/(2*this.zoom),e=(this.top-this.bottom)/(2*this.zoom),n=(this.right+this.left)/2,s=(this.top+this.bottom)/2,r=n-t,o=n+t,a=s+e,l=s-e;if(this.view!==null&&this.view.enabled){let c=(this.right-this.left)/this.view.fullWidth/this.zoom,h=(this.top-this.bottom)/this.view.fullHeight/this.zoom;r+=c*this.view.offsetX,o=r+c*this.view.width,a-=h*this.view.offsetY,l=a-h*this.view.height}this.projectionMatrix.makeOrthographic(r,o,a,l,this.near,this.far,this.coordinateSystem,this.reversedDepth),this.projectionMatrixInverse.copy(this.projectionMatrix).invert()}toJSON(t){let e=super.toJSON(t);return e.object.zoom=this.zoom,e.object.left=this.left,e.object.right=this.right,e.object.top=this.top,e.object.bottom=this.bottom,e.object.near=this.near,e.object.far=this.far,this.view!==null&&(e.object.view=Object.assign({},this.view)),e}},fd=class extends Pc{constructor(){super(new La(-5,5,5,-5,.5,500)),this.isDirectionalLightShadow=!0}},Da=class extends Ra{constructor(t,e){super(t,e),this.isDirectionalLight=!0,this.type="DirectionalLight",this.position.copy(Tn.DEFAULT_UP),this.updateMatrix(),this.target=new Tn,this.shadow=new fd}dispose(){super.dispose(),this.shadow.dispose()}copy(t){return super.copy(t),this.target=t.target.clone(),this.shadow=t.shadow.clone(),this}toJSON(t){let e=super.toJSON(t);return e.object.shadow=this.shadow.toJSON(),e.object.target=this.target.uuid,e}};var Na=class extends qe{constructor(){super(),this.isInstancedBufferGeometry=!0,this.type="InstancedBufferGeometry",this.instanceCount=1/0}copy(t){return super.copy(t),this.instanceCount=t.instanceCount,this}toJSON(){let t=super.toJSON();return t.instanceCount=this.instanceCount,t.isInstancedBufferGeometry=!0,t}};var io=-90,so=1,go=class extends Tn{constructor(t,e,n){super(),this.type="CubeCamera",this.renderTarget=n,this.coordinateSystem=null,this.activeMipmapLevel=0;let s=new qn(io,so,t,e);s.layers=this.layers,this.add(s);let r=new qn(io,so,t,e);r.layers=this.layers,this.add(r);let o=new qn(io,so,t,e);o.layers=this.layers,this.add(o);let a=new qn(io,so,t,e);a.layers=this.layers,this.add(a);let l=new qn(io,so,t,e);l.layers=this.layers,this.add(l);let c=new qn(io,so,t,e);c.layers=this.layers,this.add(c)}updateCoordinateSystem(){let t=this.coordinateSystem,e=this.children.concat(),[n,s,r,o,a,l]=e;for(let c of e)this.remove(c);if(t===yi)n.up.set(0,1,0),n.lookAt(1,0,0),s.up.set(0,1,0),s.lookAt(-1,0,0),r.up.set(0,0,-1),r.lookAt(0,1,0),o.up.set(0,0,1),o.lookAt(0,-1,0),a.up.set(0,1,0),a.lookAt(0,0,1),l.up.set(0,1,0),l.lookAt(0,0,-1);else if(t===co)n.up.set(0,-1,0),n.lookAt(-1,0,0),s.up.set(0,-1,0),s.lookAt(1,0,0),r.up.set(0,0,1),r.lookAt(0,1,0),o.up.set(0,0,-1),o.lookAt(0,-1,0),a.up.set(0,-1,0),a.lookAt(0,0,1),l.up.set(0,-1,0),l.lookAt(0,0,-1);else throw new Error("THREE.CubeCamera.updateCoordinateSystem(): Invalid coordinate system: "+t);for(let c of e)this.add(c),c.updateMatrixWorld()}update(t,e){this.parent===null&&this.updateMatrixWorld();let{renderTarget:n,activeMipmapLevel:s}=this;this.coordinateSystem!==t.coordinateSystem&&(this.coordinateSystem=t.coordinateSystem,this.updateCoordinateSystem());let[r,o,a,l,c,h]=this.children,d=t.getRenderTarget(),u=t.getActiveCubeFace(),f=t.getActiveMipmapLevel(),g=t.xr.enabled;t.xr.enabled=!1;let y=n.texture.mipmapsAutoUpdate;n.texture.mipmapsAutoUpdate=!1;let m=!1;t.isWebGLRenderer===!0?m=t.state.buffers.depth.getReversed():m=t.reversedDepthBuffer,t.setRenderTarget(n,0,s),m&&t.autoClear===!1&&t.clearDepth(),t.render(e,r),t.setRenderTarget(n,1,s),m&&t.autoClear===!1&&t.clearDepth(),t.render(e,o),t.setRenderTarget(n,2,s),m&&t.autoClear===!1&&t.clearDepth(),t.render(e,a),t.setRenderTarget(n,3,s),m&&t.autoClear===!1&&t.clearDepth(),t.render(e,l),t.setRenderTarget(n,4,s),m&&t.autoClear===!1&&t.clearDepth(),t.render(e,c),n.texture.mipmapsAutoUpdate=y,t.setRenderTarget(n,5,s),m&&t.autoClear===!1&&t.clearDepth(),t.render(e,h),t.setRenderTarget(d,u,f),t.xr.enabled=g,n.texture.needsPMREMUpdate=!0}},Ic=class extends qn{constructor(t=[]){super(),this.isArrayCamera=!0,this.isMultiViewCamera=!1,this.cameras=t,this.perCameraFrustumCulled=!1}};var Zd="\\[\\]\\.:\\/",my=new RegExp("["+Zd+"]","g"),Jd="[^"+Zd+"]",gy="[^"+Zd.replace("\\.","")+"]",_y=/((?:WC+[\/:])*)/.source.replace("WC",Jd),xy=/(WCOD+)?/.source.replace("WCOD",gy),vy=/(?:\.(WC+)(?:\[(.+)\])?)?/.source.replace("WC",Jd),yy=/\.(WC+)(?:\[(.+)\])?/.source.replace("WC",Jd),Sy=new RegExp("^"+_y+xy+vy+yy+"$"),My=["material","materials","bones","map"],pd=class{constructor(t,e,n){let s=n||We.parseTrackName(e);this._targetGroup=t,this._bindings=t.subscribe_(e,s)}getValue(t,e){this.bind();let n=this._targetGroup.nCachedObjects_,s=this._bindings[n];s!==void 0&&s.getValue(t,e)}setValue(t,e){let n=this._bindings;for(let s=this._targetGroup.nCachedObjects_,r=n.length;s!==r;++s)n[s].setValue(t,e)}bind(){let t=this._bindings;for(let e=this._targetGroup.nCachedObjects_,n=t.length;e!==n;++e)t[e].bind()}unbind(){let t=this._bindings;for(let e=this._targetGroup.nCachedObjects_,n=t.length;e!==n;++e)t[e].unbind()}},We=class i{constructor(t,e,n){this.path=e,this.parsedPath=n||i.parseTrackName(e),this.node=i.findNode(t,this.parsedPath.nodeName),this.rootNode=t,this.getValue=this._getValue_unbound,this.setValue=this._setValue_unbound}static create(t,e,n){return t&&t.isAnimationObjectGroup?new i.Composite(t,e,n):new i(t,e,n)}static sanitizeNodeName(t){return t.replace(/\s/g,"_").replace(my,"")}static parseTrackName(t){let e=Sy.exec(t);if(e===null)throw new Error("THREE.PropertyBinding: Cannot parse trackName: "+t);let n={nodeName:e[2],objectName:e[3],objectIndex:e[4],propertyName:e[5],propertyIndex:e[6]},s=n.nodeName&&n.nodeName.lastIndexOf(".");if(s!==void 0&&s!==-1){let r=n.nodeName.substring(s+1);My.indexOf(r)!==-1&&(n.nodeName=n.nodeName.substring(0,s),n.objectName=r)}if(n.propertyName===null||n.propertyName.length===0)throw new Error("THREE.PropertyBinding: can not parse propertyName from trackName: "+t);return n}static findNode(t,e){if(e===void 0||e===""||e==="."||e===-1||e===t.name||e===t.uuid)return t;if(t.skeleton){let n=t.skeleton.getBoneByName(e);if(n!==void 0)return n}if(t.children){let n=function(r){for(let o=0;o<r.length;o++){let a=r[o];if(a.name===e||a.uuid===e)return a;let l=n(a.children);if(l)return l}return null},s=n(t.children);if(s)return s}return null}_getValue_unavailable(){}_setValue_unavailable(){}_getValue_direct(t,e){t[e]=this.targetObject[this.propertyName]}_getValue_array(t,e){let n=this.resolvedProperty;for(let s=0,r=n.length;s!==r;++s)t[e++]=n[s]}_getValue_arrayElement(t,e){t[e]=this.resolvedProperty[this.propertyIndex]}_getValue_toArray(t,e){this.resolvedProperty.toArray(t,e)}_setValue_direct(t,e){this.targetObject[this.propertyName]=t[e]}_setValue_direct_setNeedsUpdate(t,e){this.targetObject[this.propertyName]=t[e],this.targetObject.needsUpdate=!0}_setValue_direct_setMatrixWorldNeedsUpdate(t,e){this.targetObject[this.propertyName]=t[e],this.targetObject.matrixWorldNeedsUpdate=!0}_setValue_array(t,e){let n=this.resolvedProperty;for(let s=0,r=n.length;s!==r;++s)n[s]=t[e++]}_setValue_array_setNeedsUpdate(t,e){let n=this.resolvedProperty;for(let s=0,r=n.length;s!==r;++s)n[s]=t[e++];this.targetObject.needsUpdate=!0}_setValue_array_setMatrixWorldNeedsUpdate(t,e){let n=this.resolvedProperty;for(let s=0,r=n.length;s!==r;++s)n[s]=t[e++];this.targetObject.matrixWorldNeedsUpdate=!0}_setValue_arrayElement(t,e){this.resolvedProperty[this.propertyIndex]=t[e]}_setValue_arrayElement_setNeedsUpdate(t,e){this.resolvedProperty[this.propertyIndex]=t[e],this.targetObject.needsUpdate=!0}_setValue_arrayElement_setMatrixWorldNeedsUpdate(t,e){this.resolvedProperty[this.propertyIndex]=t[e],this.targetObject.matrixWorldNeedsUpdate=!0}_setValue_fromArray(t,e){this.resolvedProperty.fromArray(t,e)}_setValue_fromArray_setNeedsUpdate(t,e){this.resolvedProperty.fromArray(t,e),this.targetObject.needsUpdate=!0}_setValue_fromArray_setMatrixWorldNeedsUpdate(t,e){this.resolvedProperty.fromArray(t,e),this.targetObject.matrixWorldNeedsUpdate=!0}_getValue_unbound(t,e){this.bind(),this.getValue(t,e)}_setValue_unbound(t,e){this.bind(),this.setValue(t,e)}bind(){let t=this.node,e=this.parsedPath,n=e.objectName,s=e.propertyName,r=e.propertyIndex;if(t||(t=i.findNode(this.rootNode,e.nodeName),this.node=t),this.getValue=this._getValue_unavailable,this.setValue=this._setValue_unavailable,!t){qt("PropertyBinding: No target node found for track: "+this.path+".");return}if(n){let c=e.objectIndex;switch(n){case"materials":if(!t.material){Qt("PropertyBinding: Can not bind to material as node does not have a material.",this);return}if(!t.material.materials){Qt("PropertyBinding: Can not bind to material.materials as node.material does not have a materials array.",this);return}t=t.material.materials;break;case"bones":if(!t.skeleton){Qt("PropertyBinding: Can not bind to bones as node does not have a skeleton.",this);return}t=t.skeleton.bones;for(let h=0;h<t.length;h++)if(t[h].name===c){c=h;break}break;case"map":if("map"in t){t=t.map;break}if(!t.material){Qt("PropertyBinding: Can not bind to material as node does not have a material.",this);return}if(!t.material.map){Qt("PropertyBinding: Can not bind to material.map as node.material does not have a map.",this);return}t=t.material.map;break;default:if(t[n]===void 0){Qt("PropertyBinding: Can not bind to objectName of node undefined.",this);return}t=t[n]}if(c!==void 0){if(t[c]===void 0){Qt("PropertyBinding: Trying to bind to objectIndex of objectName, but is undefined.",this,t);return}t=t[c]}}let o=t[s];if(o===void 0){let c=e.nodeName;Qt("PropertyBinding: Trying to update property for track: "+c+"."+s+" but it wasn't found.",t);return}let a=this.Versioning.None;this.targetObject=t,t.isMaterial===!0?a=this.Versioning.NeedsUpdate:t.isObject3D===!0&&(a=this.Versioning.MatrixWorldNeedsUpdate);let l=this.BindingType.Direct;if(r!==void 0){if(s==="morphTargetInfluences"){if(!t.geometry){Qt("PropertyBinding: Can not bind to morphTargetInfluences because node does not have a geometry.",this);return}if(!t.geometry.morphAttributes){Qt("PropertyBinding: Can not bind to morphTargetInfluences because node does not have a geometry.morphAttributes.",this);return}t.morphTargetDictionary[r]!==void 0&&(r=t.morphTargetDictionary[r])}l=this.BindingType.ArrayElement,this.resolvedProperty=o,this.propertyIndex=r}else o.fromArray!==void 0&&o.toArray!==void 0?(l=this.BindingType.HasFromToArray,this.resolvedProperty=o):Array.isArray(o)?(l=this.BindingType.EntireArray,this.resolvedProperty=o):this.propertyName=s;this.getValue=this.GetterByBindingType[l],this.setValue=this.SetterByBindingTypeAndVersioning[l][a]}unbind(){this.node=null,this.getValue=this._getValue_unbound,this.setValue=this._setValue_unbound}};We.Composite=pd;We.prototype.BindingType={Direct:0,EntireArray:1,ArrayElement:2,HasFromToArray:3};We.prototype.Versioning={None:0,NeedsUpdate:1,MatrixWorldNeedsUpdate:2};We.prototype.GetterByBindingType=[We.prototype._getValue_direct,We.prototype._getValue_array,We.prototype._getValue_arrayElement,We.prototype._getValue_toArray];We.prototype.SetterByBindingTypeAndVersioning=[[We.prototype._setValue_direct,We.prototype._setValue_direct_setNeedsUpdate,We.prototype._setValue_direct_setMatrixWorldNeedsUpdate],[We.prototype._setValue_array,We.prototype._setValue_array_setNeedsUpdate,We.prototype._setValue_array_setMatrixWorldNeedsUpdate],[We.prototype._setValue_arrayElement,We.prototype._setValue_arrayElement_setNeedsUpdate,We.prototype._setValue_arrayElement_setMatrixWorldNeedsUpdate],[We.prototype._setValue_fromArray,We.prototype._setValue_fromArray_setNeedsUpdate,We.prototype._setValue_fromArray_setMatrixWorldNeedsUpdate]];var TA=new Float32Array(1);var qs=class extends dc{constructor(t,e,n=1){super(t,e),this.isInstancedInterleavedBuffer=!0,this.meshPerAttribute=n}copy(t){return super.copy(t),this.meshPerAttribute=t.meshPerAttribute,this}clone(t){let e=super.clone(t);return e.meshPerAttribute=this.meshPerAttribute,e}toJSON(t){let e=super.toJSON(t);return e.isInstancedInterleavedBuffer=!0,e.meshPerAttribute=this.meshPerAttribute,e}};var md=class{static{this.prototype.isMatrix2=!0}constructor(t,e,n,s){this.elements=[1,0,0,1],t!==void 0&&this.set(t,e,n,s)}identity(){return this.set(1,0,0,1),this}fromArray(t,e=0){for(let n=0;n<4;n++)this.elements[n]=t[n+e];return this}set(t,e,n,s){let r=this.elements;return r[0]=t,r[2]=e,r[1]=n,r[3]=s,this}};var fg=new O,$l=new O,ro=new O,oo=new O,ld=new O,by=new O,wy=new O,Ua=class{constructor(t=new O,e=new O){this.start=t,this.end=e}set(t,e){return this.start.copy(t),this.end.copy(e),this}copy(t){return this.start.copy(t.start),this.end.copy(t.end),this}getCenter(t){return t.addVectors(this.start,this.end).multiplyScalar(.5)}delta(t){return t.subVectors(this.end,this.start)}distanceSq(){return this.start.distanceToSquared(this.end)}distance(){return this.start.distanceTo(this.end)}at(t,e){return this.delta(e).multiplyScalar(t).add(this.start)}closestPointToPointParameter(t,e){fg.subVectors(t,this.start),$l.subVectors(this.end,this.start);let n=$l.dot($l);if(n===0)return 0;let r=$l.dot(fg)/n;return e&&(r=ie(r,0,1)),r}closestPointToPoint(t,e,n){let s=this.closestPointToPointParameter(t,e);return this.delta(n).multiplyScalar(s).add(this.start)}distanceSqToLine3(t,e=by,n=wy){let s=10000000000000001e-32,r,o,a=this.start,l=t.start,c=this.end,h=t.end;ro.subVectors(c,a),oo.subVectors(h,l),ld.subVectors(a,l);let d=ro.dot(ro),u=oo.dot(oo),f=oo.dot(ld);if(d<=s&&u<=s)return e.copy(a),n.copy(l),e.distanceToSquared(n);if(d<=s)r=0,o=f/u,o=ie(o,0,1);else{let g=ro.dot(ld);if(u<=s)o=0,r=ie(-g/d,0,1);else{let y=ro.dot(oo),m=d*u-y*y;m!==0?r=ie((y*f-g*u)/m,0,1):r=0,o=(y*r+f)/u,o<0?(o=0,r=ie(-g/d,0,1)):o>1&&(o=1,r=ie((y-g)/d,0,1))}}return e.copy(a).addScaledVector(ro,r),n.copy(l).addScaledVector(oo,o),e.distanceToSquared(n)}applyMatrix4(t){return this.start.applyMatrix4(t),this.end.applyMatrix4(t),this}equals(t){return t.start.equals(this.start)&&t.end.equals(this.end)}clone(){return new this.constructor().copy(this)}};function $d(i,t,e,n){let s=Ay(n);switch(e){case Ud:return i*t;case Bc:return i*t/s.components*s.byteLength;case kc:return i*t/s.components*s.byteLength;case Zs:return i*t*2/s.components*s.byteLength;case zc:return i*t*2/s.components*s.byteLength;case Fd:return i*t*3/s.components*s.byteLength;case ki:return i*t*4/s.components*s.byteLength;case Vc:return i*t*4/s.components*s.byteLength;case Ba:case ka:return Math.floor((i+3)/4)*Math.floor((t+3)/4)*8;case za:case Va:return Math.floor((i+3)/4)*Math.floor((t+3)/4)*16;case Hc:case Xc:return Math.max(i,16)*Math.max(t,8)/4;case Gc:case Wc:return Math.max(i,8)*Math.max(t,8)/2;case qc:case Yc:case Jc:case $c:return Math.floor((i+3)/4)*Math.floor((t+3)/4)*8;case Zc:case Ga:case Kc:return Math.floor((i+3)/4)*Math.floor((t+3)/4)*16;case jc:return Math.floor((i+3)/4)*Math.floor((t+3)/4)*16;case Qc:return Math.floor((i+4)/5)*Math.floor((t+3)/4)*16;case th:return Math.floor((i+4)/5)*Math.floor((t+4)/5)*16;case eh:return Math.floor((i+5)/6)*Math.floor((t+4)/5)*16;case nh:return Math.floor((i+5)/6)*Math.floor((t+5)/6)*16;case ih:return Math.floor((i+7)/8)*Math.floor((t+4)/5)*16;case sh:return Math.floor((i+7)/8)*Math.floor((t+5)/6)*16;case rh:return Math.floor((i+7)/8)*Math.floor((t+7)/8)*16;case oh:return Math.floor((i+9)/10)*Math.floor((t+4)/5)*16;case ah:return Math.floor((i+9)/10)*Math.floor((t+5)/6)*16;case lh:return Math.floor((i+9)/10)*Math.floor((t+7)/8)*16;case ch:return Math.floor((i+9)/10)*Math.floor((t+9)/10)*16;case hh:return Math.floor((i+11)/12)*Math.floor((t+9)/10)*16;case uh:return Math.floor((i+11)/12)*Math.floor((t+11)/12)*16;case dh:case fh:case ph:return Math.ceil(i/4)*Math.ceil(t/4)*16;case mh:case gh:return Math.ceil(i/4)*Math.ceil(t/4)*8;case Ha:case _h:return Math.ceil(i/4)*Math.ceil(t/4)*16}throw new Error(`Unable to determine texture byte length for ${e} format.`)}function Ay(i){switch(i){case jn:case Id:return{byteLength:1,components:1};case yo:case Ld:case Bi:return{byteLength:2,components:1};case Fc:case Oc:return{byteLength:2,components:4};case Oi:case Uc:case bi:return{byteLength:4,components:1};case Dd:case Nd:return{byteLength:4,components:3}}throw new Error(`THREE.TextureUtils: Unknown texture type ${i}.`)}typeof __THREE_DEVTOOLS__<"u"&&__THREE_DEVTOOLS__.dispatchEvent(new CustomEvent("register",{detail:{revision:"187"}}));typeof window<"u"&&(window.__THREE__?qt("WARNING: Multiple instances of Three.js being imported."):window.__THREE__="187");function y0(){let i=null,t=!1,e=null,n=null;function s(r,o){n=i.requestAnimationFrame(s),e(r,o)}return{start:function(){t!==!0&&e!==null&&i!==null&&(n=i.requestAnimationFrame(s),t=!0)},stop:function(){i!==null&&i.cancelAnimationFrame(n),t=!1},setAnimationLoop:function(r){e=r},setContext:function(r){i=r}}}function Ty(i){let t=new WeakMap;function e(a,l){let c=a.array,h=a.usage,d=c.byteLength,u=i.createBuffer();i.bindBuffer(l,u),i.bufferData(l,c,h),a.onUploadCallback();let f;if(c instanceof Float32Array)f=i.FLOAT;else if(typeof Float16Array<"u"&&c instanceof Float16Array)f=i.HALF_FLOAT;else if(c instanceof Uint16Array)a.isFloat16BufferAttribute?f=i.HALF_FLOAT:f=i.UNSIGNED_SHORT;else if(c instanceof Int16Array)f=i.SHORT;else if(c instanceof Uint32Array)f=i.UNSIGNED_INT;else if(c instanceof Int32Array)f=i.INT;else if(c instanceof Int8Array)f=i.BYTE;else if(c instanceof Uint8Array)f=i.UNSIGNED_BYTE;else if(c instanceof Uint8ClampedArray)f=i.UNSIGNED_BYTE;else throw new Error("THREE.WebGLAttributes: Unsupported buffer data format: "+c);return{buffer:u,type:f,bytesPerElement:c.BYTES_PER_ELEMENT,version:a.version,size:d}}function n(a,l,c){let h=l.array,d=l.updateRanges;if(i.bindBuffer(c,a),d.length===0)i.bufferSubData(c,0,h);else{d.sort((f,g)=>f.start-g.start);let u=0;for(let f=1;f<d.length;f++){let g=d[u],y=d[f];y.start<=g.start+g.count+1?g.count=Math.max(g.count,y.start+y.count-g.start):(++u,d[u]=y)}d.length=u+1;for(let f=0,g=d.length;f<g;f++){let y=d[f];i.bufferSubData(c,y.start*h.BYTES_PER_ELEMENT,h,y.start,y.count)}l.clearUpdateRanges()}l.onUploadCallback()}function s(a){return a.isInterleavedBufferAttribute&&(a=a.data),t.get(a)}function r(a){a.isInterleavedBufferAttribute&&(a=a.data);let l=t.get(a);l&&(i.deleteBuffer(l.buffer),t.delete(a))}function o(a,l){if(a.isInterleavedBufferAttribute&&(a=a.data),a.isGLBufferAttribute){let h=t.get(a);(!h||h.version<a.version)&&t.set(a,{buffer:a.buffer,type:a.type,bytesPerElement:a.elementSize,version:a.version});return}let c=t.get(a);if(c===void 0)t.set(a,e(a,l));else if(c.version<a.version){if(c.size!==a.array.byteLength)throw new Error("THREE.WebGLAttributes: The size of the buffer attribute's array buffer does not match the original size. Resizing buffer attributes is not supported.");n(c.buffer,a,l),c.version=a.version}}return{get:s,remove:r,update:o}}var Cy=`#ifdef USE_ALPHAHASH
	if ( diffuseColor.a < getAlphaHashThreshold( vPosition ) ) discard;
#endif`,Ry=`#ifdef USE_ALPHAHASH
	const float ALPHA_HASH_SCALE = 0.05;
	float hash2D( vec2 value ) {
		return fract( 1.0e4 * sin( 17.0 * value.x + 0.1 * value.y ) * ( 0.1 + abs( sin( 13.0 * value.y + value.x ) ) ) );
	}
	float hash3D( vec3 value ) {
		return hash2D( vec2( hash2D( value.xy ), value.z ) );
	}
	float getAlphaHashThreshold( vec3 position ) {
		float maxDeriv = max(
			length( dFdx( position.xyz ) ),
			length( dFdy( position.xyz ) )
		);
		float pixScale = 1.0 / ( ALPHA_HASH_SCALE * maxDeriv );
		vec2 pixScales = vec2(
			exp2( floor( log2( pixScale ) ) ),
			exp2( ceil( log2( pixScale ) ) )
		);
		vec2 alpha = vec2(
			hash3D( floor( pixScales.x * position.xyz ) ),
			hash3D( floor( pixScales.y * position.xyz ) )
		);
		float lerpFactor = fract( log2( pixScale ) );
		float x = ( 1.0 - lerpFactor ) * alpha.x + lerpFactor * alpha.y;
		float a = min( lerpFactor, 1.0 - lerpFactor );
		vec3 cases = vec3(
			x * x / ( 2.0 * a * ( 1.0 - a ) ),
			( x - 0.5 * a ) / ( 1.0 - a ),
			1.0 - ( ( 1.0 - x ) * ( 1.0 - x ) / ( 2.0 * a * ( 1.0 - a ) ) )
		);
		float threshold = ( x < ( 1.0 - a ) )
			? ( ( x < a ) ? cases.x : cases.y )
			: cases.z;
		return clamp( threshold , 1.0e-6, 1.0 );
	}
#endif`,Py=`#ifdef USE_ALPHAMAP
	diffuseColor.a *= texture2D( alphaMap, vAlphaMapUv ).g;
#endif`,Iy=`#ifdef USE_ALPHAMAP
	uniform sampler2D alphaMap;
#endif`,Ly=`#ifdef USE_ALPHATEST
	#ifdef ALPHA_TO_COVERAGE
	diffuseColor.a = smoothstep( alphaTest, alphaTest + fwidth( diffuseColor.a ), diffuseColor.a );
	if ( diffuseColor.a == 0.0 ) discard;
	#else
	if ( diffuseColor.a < alphaTest ) discard;
	#endif
#endif`,Dy=`#ifdef USE_ALPHATEST
	uniform float alphaTest;
#endif`,Ny=`#ifdef USE_AOMAP
	float ambientOcclusion = ( texture2D( aoMap, vAoMapUv ).r - 1.0 ) * aoMapIntensity + 1.0;
	reflectedLight.indirectDiffuse *= ambientOcclusion;
	#if defined( USE_CLEARCOAT ) 
		clearcoatSpecularIndirect *= ambientOcclusion;
	#endif
	#if defined( USE_SHEEN ) 
		sheenSpecularIndirect *= ambientOcclusion;
	#endif
	#if defined( USE_ENVMAP ) && defined( STANDARD )
		float dotNV = saturate( dot( geometryNormal, geometryViewDir ) );
		reflectedLight.indirectSpecular *= computeSpecularOcclusion( dotNV, ambientOcclusion, material.roughness );
	#endif
#endif`,Uy=`#ifdef USE_AOMAP
	uniform sampler2D aoMap;
	uniform float aoMapIntensity;
#endif`,Fy=`#ifdef USE_BATCHING
	#if ! defined( GL_ANGLE_multi_draw )
	#define gl_DrawID _gl_DrawID
	uniform int _gl_DrawID;
	#endif
	uniform highp sampler2D batchingTexture;
	uniform highp usampler2D batchingIdTexture;
	mat4 getBatchingMatrix( const in float i ) {
		int size = textureSize( batchingTexture, 0 ).x;
		int j = int( i ) * 4;
		int x = j % size;
		int y = j / size;
		vec4 v1 = texelFetch( batchingTexture, ivec2( x, y ), 0 );
		vec4 v2 = texelFetch( batchingTexture, ivec2( x + 1, y ), 0 );
		vec4 v3 = texelFetch( batchingTexture, ivec2( x + 2, y ), 0 );
		vec4 v4 = texelFetch( batchingTexture, ivec2( x + 3, y ), 0 );
		return mat4( v1, v2, v3, v4 );
	}
	float getIndirectIndex( const in int i ) {
		int size = textureSize( batchingIdTexture, 0 ).x;
		int x = i % size;
		int y = i / size;
		return float( texelFetch( batchingIdTexture, ivec2( x, y ), 0 ).r );
	}
#endif
#ifdef USE_BATCHING_COLOR
	uniform sampler2D batchingColorTexture;
	vec4 getBatchingColor( const in float i ) {
		int size = textureSize( batchingColorTexture, 0 ).x;
		int j = int( i );
		int x = j % size;
		int y = j / size;
		return texelFetch( batchingColorTexture, ivec2( x, y ), 0 );
	}
#endif`,Oy=`#ifdef USE_BATCHING
	mat4 batchingMatrix = getBatchingMatrix( getIndirectIndex( gl_DrawID ) );
#endif`,By=`vec3 transformed = vec3( position );
#ifdef USE_ALPHAHASH
	vPosition = vec3( position );
#endif`,ky=`vec3 objectNormal = vec3( normal );
#ifdef USE_TANGENT
	vec3 objectTangent = vec3( tangent.xyz );
#endif`,zy=`float G_BlinnPhong_Implicit( ) {
	return 0.25;
}
float D_BlinnPhong( const in float shininess, const in float dotNH ) {
	return RECIPROCAL_PI * ( shininess * 0.5 + 1.0 ) * pow( dotNH, shininess );
}
vec3 BRDF_BlinnPhong( const in vec3 lightDir, const in vec3 viewDir, const in vec3 normal, const in vec3 specularColor, const in float shininess ) {
	vec3 halfDir = normalize( lightDir + viewDir );
	float dotNH = saturate( dot( normal, halfDir ) );
	float dotVH = saturate( dot( viewDir, halfDir ) );
	vec3 F = F_Schlick( specularColor, 1.0, dotVH );
	float G = G_BlinnPhong_Implicit( );
	float D = D_BlinnPhong( shininess, dotNH );
	return F * ( G * D );
} // validated`,Vy=`#ifdef USE_IRIDESCENCE
	const mat3 XYZ_TO_REC709 = mat3(
		 3.2404542, -0.9692660,  0.0556434,
		-1.5371385,  1.8760108, -0.2040259,
		-0.4985314,  0.0415560,  1.0572252
	);
	vec3 Fresnel0ToIor( vec3 fresnel0 ) {
		vec3 sqrtF0 = sqrt( fresnel0 );
		return ( vec3( 1.0 ) + sqrtF0 ) / ( vec3( 1.0 ) - sqrtF0 );
	}
	vec3 IorToFresnel0( vec3 transmittedIor, float incidentIor ) {
		return pow2( ( transmittedIor - vec3( incidentIor ) ) / ( transmittedIor + vec3( incidentIor ) ) );
	}
	float IorToFresnel0( float transmittedIor, float incidentIor ) {
		return pow2( ( transmittedIor - incidentIor ) / ( transmittedIor + incidentIor ));
	}
	vec3 evalSensitivity( float OPD, vec3 shift ) {
		float phase = 2.0 * PI * OPD * 1.0e-9;
		vec3 val = vec3( 5.4856e-13, 4.4201e-13, 5.2481e-13 );
		vec3 pos = vec3( 1.6810e+06, 1.7953e+06, 2.2084e+06 );
		vec3 var = vec3( 4.3278e+09, 9.3046e+09, 6.6121e+09 );
		vec3 xyz = val * sqrt( 2.0 * PI * var ) * cos( pos * phase + shift ) * exp( - pow2( phase ) * var );
		xyz.x += 9.7470e-14 * sqrt( 2.0 * PI * 4.5282e+09 ) * cos( 2.2399e+06 * phase + shift[ 0 ] ) * exp( - 4.5282e+09 * pow2( phase ) );
		xyz /= 1.0685e-7;
		vec3 rgb = XYZ_TO_REC709 * xyz;
		return rgb;
	}
	vec3 evalIridescence( float outsideIOR, float eta2, float cosTheta1, float thinFilmThickness, vec3 baseF0 ) {
		vec3 I;
		float iridescenceIOR = mix( outsideIOR, eta2, smoothstep( 0.0, 0.03, thinFilmThickness ) );
		float sinTheta2Sq = pow2( outsideIOR / iridescenceIOR ) * ( 1.0 - pow2( cosTheta1 ) );
		float cosTheta2Sq = 1.0 - sinTheta2Sq;
		if ( cosTheta2Sq < 0.0 ) {
			return vec3( 1.0 );
		}
		float cosTheta2 = sqrt( cosTheta2Sq );
		float R0 = IorToFresnel0( iridescenceIOR, outsideIOR );
		float R12 = F_Schlick( R0, 1.0, cosTheta1 );
		float T121 = 1.0 - R12;
		float phi12 = 0.0;
		if ( iridescenceIOR < outsideIOR ) phi12 = PI;
		float phi21 = PI - phi12;
		vec3 baseIOR = Fresnel0ToIor( clamp( baseF0, 0.0, 0.9999 ) );		vec3 R1 = IorToFresnel0( baseIOR, iridescenceIOR );
		vec3 R23 = F_Schlick( R1, 1.0, cosTheta2 );
		vec3 phi23 = vec3( 0.0 );
		if ( baseIOR[ 0 ] < iridescenceIOR ) phi23[ 0 ] = PI;
		if ( baseIOR[ 1 ] < iridescenceIOR ) phi23[ 1 ] = PI;
		if ( baseIOR[ 2 ] < iridescenceIOR ) phi23[ 2 ] = PI;
		float OPD = 2.0 * iridescenceIOR * thinFilmThickness * cosTheta2;
		vec3 phi = vec3( phi21 ) + phi23;
		vec3 R123 = clamp( R12 * R23, 1e-5, 0.9999 );
		vec3 r123 = sqrt( R123 );
		vec3 Rs = pow2( T121 ) * R23 / ( vec3( 1.0 ) - R123 );
		vec3 C0 = R12 + Rs;
		I = C0;
		vec3 Cm = Rs - T121;
		for ( int m = 1; m <= 2; ++ m ) {
			Cm *= r123;
			vec3 Sm = 2.0 * evalSensitivity( float( m ) * OPD, float( m ) * phi );
			I += Cm * Sm;
		}
		return max( I, vec3( 0.0 ) );
	}
#endif`,Gy=`#ifdef USE_BUMPMAP
	uniform sampler2D bumpMap;
	uniform float bumpScale;
	vec2 dHdxy_fwd() {
		vec2 dSTdx = dFdx( vBumpMapUv );
		vec2 dSTdy = dFdy( vBumpMapUv );
		float Hll = bumpScale * texture2D( bumpMap, vBumpMapUv ).x;
		float dBx = bumpScale * texture2D( bumpMap, vBumpMapUv + dSTdx ).x - Hll;
		float dBy = bumpScale * texture2D( bumpMap, vBumpMapUv + dSTdy ).x - Hll;
		return vec2( dBx, dBy );
	}
	vec3 perturbNormalArb( vec3 surf_pos, vec3 surf_norm, vec2 dHdxy, float faceDirection ) {
		vec3 vSigmaX = normalize( dFdx( surf_pos.xyz ) );
		vec3 vSigmaY = normalize( dFdy( surf_pos.xyz ) );
		vec3 vN = surf_norm;
		vec3 R1 = cross( vSigmaY, vN );
		vec3 R2 = cross( vN, vSigmaX );
		float fDet = dot( vSigmaX, R1 ) * faceDirection;
		vec3 vGrad = sign( fDet ) * ( dHdxy.x * R1 + dHdxy.y * R2 );
		return normalize( abs( fDet ) * surf_norm - vGrad );
	}
#endif`,Hy=`#if NUM_CLIPPING_PLANES > 0
	vec4 plane;
	#ifdef ALPHA_TO_COVERAGE
		float distanceToPlane, distanceGradient;
		float clipOpacity = 1.0;
		#pragma unroll_loop_start
		for ( int i = 0; i < UNION_CLIPPING_PLANES; i ++ ) {
			plane = clippingPlanes[ i ];
			distanceToPlane = - dot( vClipPosition, plane.xyz ) + plane.w;
			distanceGradient = fwidth( distanceToPlane ) / 2.0;
			clipOpacity *= smoothstep( - distanceGradient, distanceGradient, distanceToPlane );
			if ( clipOpacity == 0.0 ) discard;
		}
		#pragma unroll_loop_end
		#if UNION_CLIPPING_PLANES < NUM_CLIPPING_PLANES
			float unionClipOpacity = 1.0;
			#pragma unroll_loop_start
			for ( int i = UNION_CLIPPING_PLANES; i < NUM_CLIPPING_PLANES; i ++ ) {
				plane = clippingPlanes[ i ];
				distanceToPlane = - dot( vClipPosition, plane.xyz ) + plane.w;
				distanceGradient = fwidth( distanceToPlane ) / 2.0;
				unionClipOpacity *= 1.0 - smoothstep( - distanceGradient, distanceGradient, distanceToPlane );
			}
			#pragma unroll_loop_end
			clipOpacity *= 1.0 - unionClipOpacity;
		#endif
		diffuseColor.a *= clipOpacity;
		if ( diffuseColor.a == 0.0 ) discard;
	#else
		#pragma unroll_loop_start
		for ( int i = 0; i < UNION_CLIPPING_PLANES; i ++ ) {
			plane = clippingPlanes[ i ];
			if ( dot( vClipPosition, plane.xyz ) > plane.w ) discard;
		}
		#pragma unroll_loop_end
		#if UNION_CLIPPING_PLANES < NUM_CLIPPING_PLANES
			bool clipped = true;
			#pragma unroll_loop_start
			for ( int i = UNION_CLIPPING_PLANES; i < NUM_CLIPPING_PLANES; i ++ ) {
				plane = clippingPlanes[ i ];
				clipped = ( dot( vClipPosition, plane.xyz ) > plane.w ) && clipped;
			}
			#pragma unroll_loop_end
			if ( clipped ) discard;
		#endif
	#endif
#endif`,Wy=`#if NUM_CLIPPING_PLANES > 0
	varying vec3 vClipPosition;
	uniform vec4 clippingPlanes[ NUM_CLIPPING_PLANES ];
#endif`,Xy=`#if NUM_CLIPPING_PLANES > 0
	varying vec3 vClipPosition;
#endif`,qy=`#if NUM_CLIPPING_PLANES > 0
	vClipPosition = - mvPosition.xyz;
#endif`,Yy=`#if defined( USE_COLOR ) || defined( USE_COLOR_ALPHA )
	diffuseColor *= vColor;
#endif`,Zy=`#if defined( USE_COLOR ) || defined( USE_COLOR_ALPHA )
	varying vec4 vColor;
#endif`,Jy=`#if defined( USE_COLOR ) || defined( USE_COLOR_ALPHA ) || defined( USE_INSTANCING_COLOR ) || defined( USE_BATCHING_COLOR )
	varying vec4 vColor;
#endif`,$y=`#if defined( USE_COLOR ) || defined( USE_COLOR_ALPHA ) || defined( USE_INSTANCING_COLOR ) || defined( USE_BATCHING_COLOR )
	vColor = vec4( 1.0 );
#endif
#ifdef USE_COLOR_ALPHA
	vColor *= color;
#elif defined( USE_COLOR )
	vColor.rgb *= color;
#endif
#ifdef USE_INSTANCING_COLOR
	vColor.rgb *= instanceColor.rgb;
#endif
#ifdef USE_BATCHING_COLOR
	vColor *= getBatchingColor( getIndirectIndex( gl_DrawID ) );
#endif`,Ky=`#define PI 3.141592653589793
#define PI2 6.283185307179586
#define PI_HALF 1.5707963267948966
#define RECIPROCAL_PI 0.3183098861837907
#define RECIPROCAL_PI2 0.15915494309189535
#define EPSILON 1e-6
#ifndef saturate
#define saturate( a ) clamp( a, 0.0, 1.0 )
#endif
#define whiteComplement( a ) ( 1.0 - saturate( a ) )
float pow2( const in float x ) { return x*x; }
vec3 pow2( const in vec3 x ) { return x*x; }
float pow3( const in float x ) { return x*x*x; }
float pow4( const in float x ) { float x2 = x*x; return x2*x2; }
float max3( const in vec3 v ) { return max( max( v.x, v.y ), v.z ); }
float average( const in vec3 v ) { return dot( v, vec3( 0.3333333 ) ); }
highp float rand( const in vec2 uv ) {
	const highp float a = 12.9898, b = 78.233, c = 43758.5453;
	highp float dt = dot( uv.xy, vec2( a,b ) ), sn = mod( dt, PI );
	return fract( sin( sn ) * c );
}
#ifdef HIGH_PRECISION
	float precisionSafeLength( vec3 v ) { return length( v ); }
#else
	float precisionSafeLength( vec3 v ) {
		float maxComponent = max3( abs( v ) );
		return length( v / maxComponent ) * maxComponent;
	}
#endif
struct IncidentLight {
	vec3 color;
	vec3 direction;
	bool visible;
};
struct ReflectedLight {
	vec3 directDiffuse;
	vec3 directSpecular;
	vec3 indirectDiffuse;
	vec3 indirectSpecular;
};
#ifdef USE_ALPHAHASH
	varying vec3 vPosition;
#endif
vec3 transformDirection( in vec3 dir, in mat4 matrix ) {
	return normalize( ( matrix * vec4( dir, 0.0 ) ).xyz );
}
#define inverseTransformDirection transformDirectionByInverseViewMatrix
vec3 transformNormalByInverseViewMatrix( in vec3 normal, in mat4 viewMatrix ) {
	return normalize( ( vec4( normal, 0.0 ) * viewMatrix ).xyz );
}
vec3 transformDirectionByInverseViewMatrix( in vec3 dir, in mat4 viewMatrix ) {
	return normalize( ( vec4( dir, 0.0 ) * viewMatrix ).xyz );
}
bool isPerspectiveMatrix( mat4 m ) {
	return m[ 2 ][ 3 ] == - 1.0;
}
vec2 equirectUv( in vec3 dir ) {
	float u = atan( dir.z, dir.x ) * RECIPROCAL_PI2 + 0.5;
	float v = asin( clamp( dir.y, - 1.0, 1.0 ) ) * RECIPROCAL_PI + 0.5;
	return vec2( u, v );
}
vec3 BRDF_Lambert( const in vec3 diffuseColor ) {
	return RECIPROCAL_PI * diffuseColor;
}
vec3 F_Schlick( const in vec3 f0, const in float f90, const in float dotVH ) {
	float fresnel = exp2( ( - 5.55473 * dotVH - 6.98316 ) * dotVH );
	return f0 * ( 1.0 - fresnel ) + ( f90 * fresnel );
}
float F_Schlick( const in float f0, const in float f90, const in float dotVH ) {
	float fresnel = exp2( ( - 5.55473 * dotVH - 6.98316 ) * dotVH );
	return f0 * ( 1.0 - fresnel ) + ( f90 * fresnel );
} // validated`,jy=`vec3 transformedNormal = objectNormal;
#ifdef USE_TANGENT
	vec3 transformedTangent = objectTangent;
#endif
#ifdef USE_BATCHING
	mat3 bm = mat3( batchingMatrix );
	transformedNormal /= vec3( dot( bm[ 0 ], bm[ 0 ] ), dot( bm[ 1 ], bm[ 1 ] ), dot( bm[ 2 ], bm[ 2 ] ) );
	transformedNormal = bm * transformedNormal;
	#ifdef USE_TANGENT
		transformedTangent = bm * transformedTangent;
	#endif
#endif
#ifdef USE_INSTANCING
	mat3 im = mat3( instanceMatrix );
	transformedNormal /= vec3( dot( im[ 0 ], im[ 0 ] ), dot( im[ 1 ], im[ 1 ] ), dot( im[ 2 ], im[ 2 ] ) );
	transformedNormal = im * transformedNormal;
	#ifdef USE_TANGENT
		transformedTangent = im * transformedTangent;
	#endif
#endif
transformedNormal = normalMatrix * transformedNormal;
#ifdef FLIP_SIDED
	transformedNormal = - transformedNormal;
#endif
#ifdef USE_TANGENT
	transformedTangent = ( modelViewMatrix * vec4( transformedTangent, 0.0 ) ).xyz;
#endif`,Qy=`#ifdef USE_DISPLACEMENTMAP
	uniform sampler2D displacementMap;
	uniform float displacementScale;
	uniform float displacementBias;
#endif`,tS=`#ifdef USE_DISPLACEMENTMAP
	transformed += normalize( objectNormal ) * ( texture2D( displacementMap, vDisplacementMapUv ).x * displacementScale + displacementBias );
#endif`,eS=`#ifdef USE_EMISSIVEMAP
	vec4 emissiveColor = texture2D( emissiveMap, vEmissiveMapUv );
	#ifdef DECODE_VIDEO_TEXTURE_EMISSIVE
		emissiveColor = sRGBTransferEOTF( emissiveColor );
	#endif
	totalEmissiveRadiance *= emissiveColor.rgb;
#endif`,nS=`#ifdef USE_EMISSIVEMAP
	uniform sampler2D emissiveMap;
#endif`,iS="gl_FragColor = linearToOutputTexel( gl_FragColor );",sS=`vec4 LinearTransferOETF( in vec4 value ) {
	return value;
}
vec4 sRGBTransferEOTF( in vec4 value ) {
	return vec4( mix( pow( value.rgb * 0.9478672986 + vec3( 0.0521327014 ), vec3( 2.4 ) ), value.rgb * 0.0773993808, vec3( lessThanEqual( value.rgb, vec3( 0.04045 ) ) ) ), value.a );
}
vec4 sRGBTransferOETF( in vec4 value ) {
	return vec4( mix( pow( value.rgb, vec3( 0.41666 ) ) * 1.055 - vec3( 0.055 ), value.rgb * 12.92, vec3( lessThanEqual( value.rgb, vec3( 0.0031308 ) ) ) ), value.a );
}`,rS=`#ifdef USE_ENVMAP
	#ifdef ENV_WORLDPOS
		vec3 cameraToFrag;
		if ( isOrthographic ) {
			cameraToFrag = normalize( vec3( - viewMatrix[ 0 ][ 2 ], - viewMatrix[ 1 ][ 2 ], - viewMatrix[ 2 ][ 2 ] ) );
		} else {
			cameraToFrag = normalize( vWorldPosition - cameraPosition );
		}
		vec3 worldNormal = transformNormalByInverseViewMatrix( normal, viewMatrix );
		#ifdef ENVMAP_MODE_REFLECTION
			vec3 reflectVec = reflect( cameraToFrag, worldNormal );
		#else
			vec3 reflectVec = refract( cameraToFrag, worldNormal, refractionRatio );
		#endif
	#else
		vec3 reflectVec = vReflect;
	#endif
	#ifdef ENVMAP_TYPE_CUBE
		vec4 envColor = textureCube( envMap, envMapRotation * reflectVec );
		#ifdef ENVMAP_BLENDING_MULTIPLY
			outgoingLight = mix( outgoingLight, outgoingLight * envColor.xyz, specularStrength * reflectivity );
		#elif defined( ENVMAP_BLENDING_MIX )
			outgoingLight = mix( outgoingLight, envColor.xyz, specularStrength * reflectivity );
		#elif defined( ENVMAP_BLENDING_ADD )
			outgoingLight += envColor.xyz * specularStrength * reflectivity;
		#endif
	#endif
#endif`,oS=`#ifdef USE_ENVMAP
	uniform float envMapIntensity;
	uniform mat3 envMapRotation;
	uniform samplerCube envMap;
	#ifdef ENVMAP_TYPE_PMREM
		float roughnessToMip( const in float roughness ) {
			float r = clamp( roughness, 0.0, 1.0 );
			return ENVMAP_MAX_LOD * r * ( 2.0 - r );
		}
	#endif
#endif`,aS=`#ifdef USE_ENVMAP
	uniform float reflectivity;
	#if defined( USE_BUMPMAP ) || defined( USE_NORMALMAP ) || defined( PHONG ) || defined( LAMBERT )
		#define ENV_WORLDPOS
	#endif
	#ifdef ENV_WORLDPOS
		varying vec3 vWorldPosition;
		uniform float refractionRatio;
	#else
		varying vec3 vReflect;
	#endif
#endif`,lS=`#ifdef USE_ENVMAP
	#if defined( USE_BUMPMAP ) || defined( USE_NORMALMAP ) || defined( PHONG ) || defined( LAMBERT )
		#define ENV_WORLDPOS
	#endif
	#ifdef ENV_WORLDPOS
		
		varying vec3 vWorldPosition;
	#else
		varying vec3 vReflect;
		uniform float refractionRatio;
	#endif
#endif`,cS=`#ifdef USE_ENVMAP
	#ifdef ENV_WORLDPOS
		vWorldPosition = worldPosition.xyz;
	#else
		vec3 cameraToVertex;
		if ( isOrthographic ) {
			cameraToVertex = normalize( vec3( - viewMatrix[ 0 ][ 2 ], - viewMatrix[ 1 ][ 2 ], - viewMatrix[ 2 ][ 2 ] ) );
		} else {
			cameraToVertex = normalize( worldPosition.xyz - cameraPosition );
		}
		vec3 worldNormal = transformNormalByInverseViewMatrix( transformedNormal, viewMatrix );
		#ifdef ENVMAP_MODE_REFLECTION
			vReflect = reflect( cameraToVertex, worldNormal );
		#else
			vReflect = refract( cameraToVertex, worldNormal, refractionRatio );
		#endif
	#endif
#endif`,hS=`#ifdef USE_FOG
	vFogDepth = - mvPosition.z;
#endif`,uS=`#ifdef USE_FOG
	varying float vFogDepth;
#endif`,dS=`#ifdef USE_FOG
	#ifdef FOG_EXP2
		float fogFactor = 1.0 - exp( - fogDensity * fogDensity * vFogDepth * vFogDepth );
	#else
		float fogFactor = smoothstep( fogNear, fogFar, vFogDepth );
	#endif
	gl_FragColor.rgb = mix( gl_FragColor.rgb, fogColor, fogFactor );
#endif`,fS=`#ifdef USE_FOG
	uniform vec3 fogColor;
	varying float vFogDepth;
	#ifdef FOG_EXP2
		uniform float fogDensity;
	#else
		uniform float fogNear;
		uniform float fogFar;
	#endif
#endif`,pS=`#ifdef USE_GRADIENTMAP
	uniform sampler2D gradientMap;
#endif
vec3 getGradientIrradiance( vec3 normal, vec3 lightDirection ) {
	float dotNL = dot( normal, lightDirection );
	vec2 coord = vec2( dotNL * 0.5 + 0.5, 0.0 );
	#ifdef USE_GRADIENTMAP
		return vec3( texture2D( gradientMap, coord ).r );
	#else
		vec2 fw = fwidth( coord ) * 0.5;
		return mix( vec3( 0.7 ), vec3( 1.0 ), smoothstep( 0.7 - fw.x, 0.7 + fw.x, coord.x ) );
	#endif
}`,mS=`#ifdef USE_LIGHTMAP
	uniform sampler2D lightMap;
	uniform float lightMapIntensity;
#endif`,gS=`LambertMaterial material;
material.diffuseColor = diffuseColor.rgb;
material.specularStrength = specularStrength;`,_S=`varying vec3 vViewPosition;
struct LambertMaterial {
	vec3 diffuseColor;
	float specularStrength;
};
void RE_Direct_Lambert( const in IncidentLight directLight, const in vec3 geometryPosition, const in vec3 geometryNormal, const in vec3 geometryViewDir, const in vec3 geometryClearcoatNormal, const in LambertMaterial material, inout ReflectedLight reflectedLight ) {
	float dotNL = saturate( dot( geometryNormal, directLight.direction ) );
	vec3 irradiance = dotNL * directLight.color;
	reflectedLight.directDiffuse += irradiance * BRDF_Lambert( material.diffuseColor );
}
void RE_IndirectDiffuse_Lambert( const in vec3 irradiance, const in vec3 geometryPosition, const in vec3 geometryNormal, const in vec3 geometryViewDir, const in vec3 geometryClearcoatNormal, const in LambertMaterial material, inout ReflectedLight reflectedLight ) {
	reflectedLight.indirectDiffuse += irradiance * BRDF_Lambert( material.diffuseColor );
}
#define RE_Direct				RE_Direct_Lambert
#define RE_IndirectDiffuse		RE_IndirectDiffuse_Lambert`,xS=`uniform bool receiveShadow;
uniform vec3 ambientLightColor;
#if defined( USE_LIGHT_PROBES )
	uniform vec3 lightProbe[ 9 ];
#endif
vec3 shGetIrradianceAt( in vec3 normal, in vec3 shCoefficients[ 9 ] ) {
	float x = normal.x, y = normal.y, z = normal.z;
	vec3 result = shCoefficients[ 0 ] * 0.886227;
	result += shCoefficients[ 1 ] * 2.0 * 0.511664 * y;
	result += shCoefficients[ 2 ] * 2.0 * 0.511664 * z;
	result += shCoefficients[ 3 ] * 2.0 * 0.511664 * x;
	result += shCoefficients[ 4 ] * 2.0 * 0.429043 * x * y;
	result += shCoefficients[ 5 ] * 2.0 * 0.429043 * y * z;
	result += shCoefficients[ 6 ] * ( 0.743125 * z * z - 0.247708 );
	result += shCoefficients[ 7 ] * 2.0 * 0.429043 * x * z;
	result += shCoefficients[ 8 ] * 0.429043 * ( x * x - y * y );
	return result;
}
vec3 getLightProbeIrradiance( const in vec3 lightProbe[ 9 ], const in vec3 normal ) {
	vec3 worldNormal = transformNormalByInverseViewMatrix( normal, viewMatrix );
	vec3 irradiance = shGetIrradianceAt( worldNormal, lightProbe );
	return irradiance;
}
vec3 getAmbientLightIrradiance( const in vec3 ambientLightColor ) {
	vec3 irradiance = ambientLightColor;
	return irradiance;
}
float getDistanceAttenuation( const in float lightDistance, const in float cutoffDistance, const in float decayExponent ) {
	float distanceFalloff = 1.0 / max( pow( lightDistance, decayExponent ), 0.01 );
	if ( cutoffDistance > 0.0 ) {
		distanceFalloff *= pow2( saturate( 1.0 - pow4( lightDistance / cutoffDistance ) ) );
	}
	return distanceFalloff;
}
float getSpotAttenuation( const in float coneCosine, const in float penumbraCosine, const in float angleCosine ) {
	return smoothstep( coneCosine, penumbraCosine, angleCosine );
}
#if NUM_SUN_LIGHTS > 0
	struct SunLight {
		vec3 direction;
		vec3 color;
	};
	uniform SunLight sunLights[ NUM_SUN_LIGHTS ];
	void getSunLightInfo( const in SunLight sunLight, out IncidentLight light ) {
		light.color = sunLight.color;
		light.direction = sunLight.direction;
		light.visible = true;
	}
#endif
#if NUM_DIR_LIGHTS > 0
	struct DirectionalLight {
		vec3 direction;
		vec3 color;
	};
	uniform DirectionalLight directionalLights[ NUM_DIR_LIGHTS ];
	void getDirectionalLightInfo( const in DirectionalLight directionalLight, out IncidentLight light ) {
		light.color = directionalLight.color;
		light.direction = directionalLight.direction;
		light.visible = true;
	}
#endif
#if NUM_POINT_LIGHTS > 0
	struct PointLight {
		vec3 position;
		vec3 color;
		float distance;
		float decay;
	};
	uniform PointLight pointLights[ NUM_POINT_LIGHTS ];
	void getPointLightInfo( const in PointLight pointLight, const in vec3 geometryPosition, out IncidentLight light ) {
		vec3 lVector = pointLight.position - geometryPosition;
		light.direction = normalize( lVector );
		float lightDistance = length( lVector );
		light.color = pointLight.color;
		light.color *= getDistanceAttenuation( lightDistance, pointLight.distance, pointLight.decay );
		light.visible = ( light.color != vec3( 0.0 ) );
	}
#endif
#if NUM_SPOT_LIGHTS > 0
	struct SpotLight {
		vec3 position;
		vec3 direction;
		vec3 color;
		float distance;
		float decay;
		float coneCos;
		float penumbraCos;
	};
	uniform SpotLight spotLights[ NUM_SPOT_LIGHTS ];
	void getSpotLightInfo( const in SpotLight spotLight, const in vec3 geometryPosition, out IncidentLight light ) {
		vec3 lVector = spotLight.position - geometryPosition;
		light.direction = normalize( lVector );
		float angleCos = dot( light.direction, spotLight.direction );
		float spotAttenuation = getSpotAttenuation( spotLight.coneCos, spotLight.penumbraCos, angleCos );
		if ( spotAttenuation > 0.0 ) {
			float lightDistance = length( lVector );
			light.color = spotLight.color * spotAttenuation;
			light.color *= getDistanceAttenuation( lightDistance, spotLight.distance, spotLight.decay );
			light.visible = ( light.color != vec3( 0.0 ) );
		} else {
			light.color = vec3( 0.0 );
			light.visible = false;
		}
	}
#endif
#if NUM_RECT_AREA_LIGHTS > 0
	struct RectAreaLight {
		vec3 color;
		vec3 position;
		vec3 halfWidth;
		vec3 halfHeight;
	};
	uniform sampler2D ltc_1;	uniform sampler2D ltc_2;
	uniform RectAreaLight rectAreaLights[ NUM_RECT_AREA_LIGHTS ];
#endif
#if NUM_HEMI_LIGHTS > 0
	struct HemisphereLight {
		vec3 direction;
		vec3 skyColor;
		vec3 groundColor;
	};
	uniform HemisphereLight hemisphereLights[ NUM_HEMI_LIGHTS ];
	vec3 getHemisphereLightIrradiance( const in HemisphereLight hemiLight, const in vec3 normal ) {
		float dotNL = dot( normal, hemiLight.direction );
		float hemiDiffuseWeight = 0.5 * dotNL + 0.5;
		vec3 irradiance = mix( hemiLight.groundColor, hemiLight.skyColor, hemiDiffuseWeight );
		return irradiance;
	}
#endif
#include <lightprobes_pars_fragment>`,vS=`#ifdef USE_ENVMAP
	vec3 getIBLIrradiance( const in vec3 normal ) {
		#ifdef ENVMAP_TYPE_PMREM
			vec3 worldNormal = transformNormalByInverseViewMatrix( normal, viewMatrix );
			vec4 envMapColor = textureLod( envMap, envMapRotation * worldNormal, ENVMAP_MAX_LOD );
			return PI * envMapColor.rgb * envMapIntensity;
		#else
			return vec3( 0.0 );
		#endif
	}
	vec3 getIBLRadiance( const in vec3 viewDir, const in vec3 normal, const in float roughness ) {
		#ifdef ENVMAP_TYPE_PMREM
			vec3 reflectVec = reflect( - viewDir, normal );
			reflectVec = normalize( mix( reflectVec, normal, pow4( roughness ) ) );
			reflectVec = transformDirectionByInverseViewMatrix( reflectVec, viewMatrix );
			vec4 envMapColor = textureLod( envMap, envMapRotation * reflectVec, roughnessToMip( roughness ) );
			return envMapColor.rgb * envMapIntensity;
		#else
			return vec3( 0.0 );
		#endif
	}
	#ifdef USE_RETROREFLECTION
		vec3 getIBLRetroRadiance( const in vec3 viewDir, const in vec3 normal, const in float roughness ) {
			#ifdef ENVMAP_TYPE_PMREM
				vec3 retroVec = normalize( mix( viewDir, normal, pow4( roughness ) ) );
				retroVec = transformDirectionByInverseViewMatrix( retroVec, viewMatrix );
				vec4 envMapColor = textureLod( envMap, envMapRotation * retroVec, roughnessToMip( roughness ) );
				return envMapColor.rgb * envMapIntensity;
			#else
				return vec3( 0.0 );
			#endif
		}
	#endif
	#ifdef USE_ANISOTROPY
		vec3 getIBLAnisotropyRadiance( const in vec3 viewDir, const in vec3 normal, const in float roughness, const in vec3 bitangent, const in float anisotropy ) {
			#ifdef ENVMAP_TYPE_PMREM
				vec3 bentNormal = cross( bitangent, viewDir );
				bentNormal = normalize( cross( bentNormal, bitangent ) );
				bentNormal = normalize( mix( bentNormal, normal, pow2( pow2( 1.0 - anisotropy * ( 1.0 - roughness ) ) ) ) );
				return getIBLRadiance( viewDir, bentNormal, roughness );
			#else
				return vec3( 0.0 );
			#endif
		}
		#ifdef USE_RETROREFLECTION
			vec3 getIBLAnisotropyRetroRadiance( const in vec3 viewDir, const in vec3 normal, const in float roughness, const in vec3 bitangent, const in float anisotropy ) {
				#ifdef ENVMAP_TYPE_PMREM
					vec3 bentNormal = cross( bitangent, viewDir );
					bentNormal = normalize( cross( bentNormal, bitangent ) );
					bentNormal = normalize( mix( bentNormal, normal, pow2( pow2( 1.0 - anisotropy * ( 1.0 - roughness ) ) ) ) );
					return getIBLRetroRadiance( viewDir, bentNormal, roughness );
				#else
					return vec3( 0.0 );
				#endif
			}
		#endif
	#endif
#endif`,yS=`ToonMaterial material;
material.diffuseColor = diffuseColor.rgb;`,SS=`varying vec3 vViewPosition;
struct ToonMaterial {
	vec3 diffuseColor;
};
void RE_Direct_Toon( const in IncidentLight directLight, const in vec3 geometryPosition, const in vec3 geometryNormal, const in vec3 geometryViewDir, const in vec3 geometryClearcoatNormal, const in ToonMaterial material, inout ReflectedLight reflectedLight ) {
	vec3 irradiance = getGradientIrradiance( geometryNormal, directLight.direction ) * directLight.color;
	reflectedLight.directDiffuse += irradiance * BRDF_Lambert( material.diffuseColor );
}
void RE_IndirectDiffuse_Toon( const in vec3 irradiance, const in vec3 geometryPosition, const in vec3 geometryNormal, const in vec3 geometryViewDir, const in vec3 geometryClearcoatNormal, const in ToonMaterial material, inout ReflectedLight reflectedLight ) {
	reflectedLight.indirectDiffuse += irradiance * BRDF_Lambert( material.diffuseColor );
}
#define RE_Direct				RE_Direct_Toon
#define RE_IndirectDiffuse		RE_IndirectDiffuse_Toon`,MS=`BlinnPhongMaterial material;
material.diffuseColor = diffuseColor.rgb;
material.specularColor = specular;
material.specularShininess = shininess;
material.specularStrength = specularStrength;`,bS=`varying vec3 vViewPosition;
struct BlinnPhongMaterial {
	vec3 diffuseColor;
	vec3 specularColor;
	float specularShininess;
	float specularStrength;
};
void RE_Direct_BlinnPhong( const in IncidentLight directLight, const in vec3 geometryPosition, const in vec3 geometryNormal, const in vec3 geometryViewDir, const in vec3 geometryClearcoatNormal, const in BlinnPhongMaterial material, inout ReflectedLight reflectedLight ) {
	float dotNL = saturate( dot( geometryNormal, directLight.direction ) );
	vec3 irradiance = dotNL * directLight.color;
	reflectedLight.directDiffuse += irradiance * BRDF_Lambert( material.diffuseColor );
	reflectedLight.directSpecular += irradiance * BRDF_BlinnPhong( directLight.direction, geometryViewDir, geometryNormal, material.specularColor, material.specularShininess ) * material.specularStrength;
}
void RE_IndirectDiffuse_BlinnPhong( const in vec3 irradiance, const in vec3 geometryPosition, const in vec3 geometryNormal, const in vec3 geometryViewDir, const in vec3 geometryClearcoatNormal, const in BlinnPhongMaterial material, inout ReflectedLight reflectedLight ) {
	reflectedLight.indirectDiffuse += irradiance * BRDF_Lambert( material.diffuseColor );
}
#define RE_Direct				RE_Direct_BlinnPhong
#define RE_IndirectDiffuse		RE_IndirectDiffuse_BlinnPhong`,wS=`PhysicalMaterial material;
material.diffuseColor = diffuseColor.rgb;
material.diffuseContribution = diffuseColor.rgb * ( 1.0 - metalnessFactor );
material.metalness = metalnessFactor;
vec3 dxy = max( abs( dFdx( nonPerturbedNormal ) ), abs( dFdy( nonPerturbedNormal ) ) );
float geometryRoughness = max( max( dxy.x, dxy.y ), dxy.z );
material.roughness = max( roughnessFactor, 0.045 );
material.roughness += geometryRoughness;
material.roughness = min( material.roughness, 1.0 );
#ifdef USE_DIFFUSE_ROUGHNESS
	float diffuseRoughnessFactor = diffuseRoughness;
	#ifdef USE_DIFFUSE_ROUGHNESSMAP
		diffuseRoughnessFactor *= texture2D( diffuseRoughnessMap, vDiffuseRoughnessMapUv ).r;
	#endif
	material.diffuseRoughness = saturate( diffuseRoughnessFactor );
#endif
#ifdef IOR
	material.ior = ior;
	#ifdef USE_SPECULAR
		float specularIntensityFactor = specularIntensity;
		vec3 specularColorFactor = specularColor;
		#ifdef USE_SPECULAR_COLORMAP
			specularColorFactor *= texture2D( specularColorMap, vSpecularColorMapUv ).rgb;
		#endif
		#ifdef USE_SPECULAR_INTENSITYMAP
			specularIntensityFactor *= texture2D( specularIntensityMap, vSpecularIntensityMapUv ).a;
		#endif
		material.specularF90 = mix( specularIntensityFactor, 1.0, metalnessFactor );
	#else
		float specularIntensityFactor = 1.0;
		vec3 specularColorFactor = vec3( 1.0 );
		material.specularF90 = 1.0;
	#endif
	material.specularColor = min( pow2( ( material.ior - 1.0 ) / ( material.ior + 1.0 ) ) * specularColorFactor, vec3( 1.0 ) ) * specularIntensityFactor;
	material.specularColorBlended = mix( material.specularColor, diffuseColor.rgb, metalnessFactor );
#else
	material.specularColor = vec3( 0.04 );
	material.specularColorBlended = mix( material.specularColor, diffuseColor.rgb, metalnessFactor );
	material.specularF90 = 1.0;
#endif
#ifdef USE_CLEARCOAT
	material.clearcoat = clearcoat;
	material.clearcoatRoughness = clearcoatRoughness;
	material.clearcoatF0 = vec3( 0.04 );
	material.clearcoatF90 = 1.0;
	#ifdef USE_CLEARCOATMAP
		material.clearcoat *= texture2D( clearcoatMap, vClearcoatMapUv ).x;
	#endif
	#ifdef USE_CLEARCOAT_ROUGHNESSMAP
		material.clearcoatRoughness *= texture2D( clearcoatRoughnessMap, vClearcoatRoughnessMapUv ).y;
	#endif
	material.clearcoat = saturate( material.clearcoat );	material.clearcoatRoughness = max( material.clearcoatRoughness, 0.045 );
	material.clearcoatRoughness += geometryRoughness;
	material.clearcoatRoughness = min( material.clearcoatRoughness, 1.0 );
#endif
#ifdef USE_DISPERSION
	material.dispersion = dispersion;
#endif
#ifdef USE_RETROREFLECTION
	material.retroreflectivity = retroreflectivity;
#endif
#ifdef USE_IRIDESCENCE
	material.iridescence = iridescence;
	material.iridescenceIOR = iridescenceIOR;
	#ifdef USE_IRIDESCENCEMAP
		material.iridescence *= texture2D( iridescenceMap, vIridescenceMapUv ).r;
	#endif
	#ifdef USE_IRIDESCENCE_THICKNESSMAP
		material.iridescenceThickness = (iridescenceThicknessMaximum - iridescenceThicknessMinimum) * texture2D( iridescenceThicknessMap, vIridescenceThicknessMapUv ).g + iridescenceThicknessMinimum;
	#else
		material.iridescenceThickness = iridescenceThicknessMaximum;
	#endif
#endif
#ifdef USE_SHEEN
	material.sheenColor = sheenColor;
	#ifdef USE_SHEEN_COLORMAP
		material.sheenColor *= texture2D( sheenColorMap, vSheenColorMapUv ).rgb;
	#endif
	material.sheenRoughness = clamp( sheenRoughness, 0.0001, 1.0 );
	#ifdef USE_SHEEN_ROUGHNESSMAP
		material.sheenRoughness *= texture2D( sheenRoughnessMap, vSheenRoughnessMapUv ).a;
	#endif
#endif
#ifdef USE_ANISOTROPY
	#ifdef USE_ANISOTROPYMAP
		mat2 anisotropyMat = mat2( anisotropyVector.x, anisotropyVector.y, - anisotropyVector.y, anisotropyVector.x );
		vec3 anisotropyPolar = texture2D( anisotropyMap, vAnisotropyMapUv ).rgb;
		vec2 anisotropyV = anisotropyMat * normalize( 2.0 * anisotropyPolar.rg - vec2( 1.0 ) ) * anisotropyPolar.b;
	#else
		vec2 anisotropyV = anisotropyVector;
	#endif
	material.anisotropy = length( anisotropyV );
	if( material.anisotropy == 0.0 ) {
		anisotropyV = vec2( 1.0, 0.0 );
	} else {
		anisotropyV /= material.anisotropy;
		material.anisotropy = saturate( material.anisotropy );
	}
	material.alphaT = mix( pow2( material.roughness ), 1.0, pow2( material.anisotropy ) );
	material.anisotropyT = tbn[ 0 ] * anisotropyV.x + tbn[ 1 ] * anisotropyV.y;
	material.anisotropyB = tbn[ 1 ] * anisotropyV.x - tbn[ 0 ] * anisotropyV.y;
#endif`,AS=`uniform sampler2D dfgLUT;
struct PhysicalMaterial {
	vec3 diffuseColor;
	vec3 diffuseContribution;
	vec3 specularColor;
	vec3 specularColorBlended;
	float roughness;
	float metalness;
	float specularF90;
	float dispersion;
	vec2 dfg;
	vec3 multiScatteringCompensation;
	#ifdef USE_DIFFUSE_ROUGHNESS
		float diffuseRoughness;
	#endif
	#ifdef USE_RETROREFLECTION
		float retroreflectivity;
	#endif
	#ifdef USE_CLEARCOAT
		float clearcoat;
		float clearcoatRoughness;
		vec3 clearcoatF0;
		float clearcoatF90;
	#endif
	#ifdef USE_IRIDESCENCE
		float iridescence;
		float iridescenceIOR;
		float iridescenceThickness;
		vec3 iridescenceFresnel;
		vec3 iridescenceF0Dielectric;
		vec3 iridescenceF0Metallic;
	#endif
	#ifdef USE_SHEEN
		vec3 sheenColor;
		float sheenRoughness;
	#endif
	#ifdef IOR
		float ior;
	#endif
	#ifdef USE_TRANSMISSION
		float transmission;
		float transmissionAlpha;
		float thickness;
		float attenuationDistance;
		vec3 attenuationColor;
	#endif
	#ifdef USE_ANISOTROPY
		float anisotropy;
		float alphaT;
		vec3 anisotropyT;
		vec3 anisotropyB;
	#endif
};
vec3 clearcoatSpecularDirect = vec3( 0.0 );
vec3 clearcoatSpecularIndirect = vec3( 0.0 );
vec3 sheenSpecularDirect = vec3( 0.0 );
vec3 sheenSpecularIndirect = vec3(0.0 );
vec3 Schlick_to_F0( const in vec3 f, const in float f90, const in float dotVH ) {
    float x = clamp( 1.0 - dotVH, 0.0, 1.0 );
    float x2 = x * x;
    float x5 = clamp( x * x2 * x2, 0.0, 0.9999 );
    return ( f - vec3( f90 ) * x5 ) / ( 1.0 - x5 );
}
#ifdef USE_DIFFUSE_ROUGHNESS
	const float EON_EPSILON = 1e-7;
	float FON_DirectionalAlbedo( const in float mu, const in float roughness, const in float A ) {
		float muComp = 1.0 - mu;
		float gOverPi = muComp * ( 0.0571085289 + muComp * ( 0.491881867 + muComp * ( - 0.332181442 + muComp * 0.0714429953 ) ) );
		return A * ( 1.0 + roughness * gOverPi );
	}
	vec3 BRDF_EON( const in vec3 lightDir, const in vec3 viewDir, const in vec3 normal, const in vec3 diffuseColor, const in float roughness ) {
		vec3 rho = saturate( diffuseColor );
		if ( roughness <= EON_EPSILON ) return BRDF_Lambert( rho );
		float dotNL = saturate( dot( normal, lightDir ) );
		float dotNV = saturate( dot( normal, viewDir ) );
		float s = dot( lightDir, viewDir ) - dotNL * dotNV;
		float sOverT = ( s > 0.0 ) ? s / max( max( dotNL, dotNV ), EON_EPSILON ) : s;
		float A = 1.0 / ( 1.0 + ( 0.5 - 2.0 / ( 3.0 * PI ) ) * roughness );
		vec3 singleScatter = rho * RECIPROCAL_PI * A * ( 1.0 + roughness * sOverT );
		float averageAlbedo = A * ( 1.0 + ( 2.0 / 3.0 - 28.0 / ( 15.0 * PI ) ) * roughness );
		float albedoV = FON_DirectionalAlbedo( dotNV, roughness, A );
		float albedoL = FON_DirectionalAlbedo( dotNL, roughness, A );
		vec3 rhoMultiScatter = rho * rho * averageAlbedo / max( vec3( EON_EPSILON ), vec3( 1.0 ) - rho * ( 1.0 - averageAlbedo ) );
		vec3 multiScatter = rhoMultiScatter * RECIPROCAL_PI
			* max( EON_EPSILON, 1.0 - albedoV )
			* max( EON_EPSILON, 1.0 - albedoL )
			/ max( EON_EPSILON, 1.0 - averageAlbedo );
		return singleScatter + multiScatter;
	}
	vec3 EON_DirectionalAlbedo( const in vec3 diffuseColor, const in float roughness, const in float dotNV ) {
		vec3 rho = saturate( diffuseColor );
		if ( roughness <= EON_EPSILON ) return rho;
		float A = 1.0 / ( 1.0 + ( 0.5 - 2.0 / ( 3.0 * PI ) ) * roughness );
		float directionalAlbedo = FON_DirectionalAlbedo( dotNV, roughness, A );
		float averageAlbedo = A * ( 1.0 + ( 2.0 / 3.0 - 28.0 / ( 15.0 * PI ) ) * roughness );
		vec3 rhoMultiScatter = rho * rho * averageAlbedo / max( vec3( EON_EPSILON ), vec3( 1.0 ) - rho * ( 1.0 - averageAlbedo ) );
		return rho * directionalAlbedo + rhoMultiScatter * ( 1.0 - directionalAlbedo );
	}
#endif
float V_GGX_SmithCorrelated( const in float alpha, const in float dotNL, const in float dotNV ) {
	float a2 = pow2( alpha );
	float gv = dotNL * sqrt( a2 + ( 1.0 - a2 ) * pow2( dotNV ) );
	float gl = dotNV * sqrt( a2 + ( 1.0 - a2 ) * pow2( dotNL ) );
	return 0.5 / max( gv + gl, EPSILON );
}
float D_GGX( const in float alpha, const in float dotNH ) {
	float a2 = pow2( alpha );
	float denom = pow2( dotNH ) * ( a2 - 1.0 ) + 1.0;
	return RECIPROCAL_PI * a2 / pow2( denom );
}
#ifdef USE_ANISOTROPY
	float V_GGX_SmithCorrelated_Anisotropic( const in float alphaT, const in float alphaB, const in float dotTV, const in float dotBV, const in float dotTL, const in float dotBL, const in float dotNV, const in float dotNL ) {
		float gv = dotNL * length( vec3( alphaT * dotTV, alphaB * dotBV, dotNV ) );
		float gl = dotNV * length( vec3( alphaT * dotTL, alphaB * dotBL, dotNL ) );
		return 0.5 / max( gv + gl, EPSILON );
	}
	float D_GGX_Anisotropic( const in float alphaT, const in float alphaB, const in float dotNH, const in float dotTH, const in float dotBH ) {
		float a2 = alphaT * alphaB;
		highp vec3 v = vec3( alphaB * dotTH, alphaT * dotBH, a2 * dotNH );
		highp float v2 = dot( v, v );
		float w2 = a2 / v2;
		return RECIPROCAL_PI * a2 * pow2 ( w2 );
	}
#endif
#ifdef USE_CLEARCOAT
	vec3 BRDF_GGX_Clearcoat( const in vec3 lightDir, const in vec3 viewDir, const in vec3 normal, const in PhysicalMaterial material) {
		vec3 f0 = material.clearcoatF0;
		float f90 = material.clearcoatF90;
		float roughness = max( material.clearcoatRoughness, 0.045 );
		float alpha = pow2( roughness );
		vec3 halfDir = normalize( lightDir + viewDir );
		float dotNL = saturate( dot( normal, lightDir ) );
		float dotNV = saturate( dot( normal, viewDir ) );
		float dotNH = saturate( dot( normal, halfDir ) );
		float dotVH = saturate( dot( viewDir, halfDir ) );
		vec3 F = F_Schlick( f0, f90, dotVH );
		float V = V_GGX_SmithCorrelated( alpha, dotNL, dotNV );
		float D = D_GGX( alpha, dotNH );
		return F * ( V * D );
	}
#endif
vec3 BRDF_GGX( const in vec3 lightDir, const in vec3 viewDir, const in vec3 normal, const in PhysicalMaterial material ) {
	vec3 f0 = material.specularColorBlended;
	float f90 = material.specularF90;
	float roughness = max( material.roughness, 0.045 );
	float alpha = pow2( roughness );
	vec3 halfDir = normalize( lightDir + viewDir );
	float dotNL = saturate( dot( normal, lightDir ) );
	float dotNV = saturate( dot( normal, viewDir ) );
	float dotNH = saturate( dot( normal, halfDir ) );
	float dotVH = saturate( dot( viewDir, halfDir ) );
	vec3 F = F_Schlick( f0, f90, dotVH );
	#ifdef USE_IRIDESCENCE
		F = mix( F, material.iridescenceFresnel, material.iridescence );
	#endif
	#ifdef USE_ANISOTROPY
		float dotTL = dot( material.anisotropyT, lightDir );
		float dotTV = dot( material.anisotropyT, viewDir );
		float dotTH = dot( material.anisotropyT, halfDir );
		float dotBL = dot( material.anisotropyB, lightDir );
		float dotBV = dot( material.anisotropyB, viewDir );
		float dotBH = dot( material.anisotropyB, halfDir );
		float alphaT = max( material.alphaT, alpha );
		float V = V_GGX_SmithCorrelated_Anisotropic( alphaT, alpha, dotTV, dotBV, dotTL, dotBL, dotNV, dotNL );
		float D = D_GGX_Anisotropic( alphaT, alpha, dotNH, dotTH, dotBH );
	#else
		float V = V_GGX_SmithCorrelated( alpha, dotNL, dotNV );
		float D = D_GGX( alpha, dotNH );
	#endif
	return F * ( V * D );
}
vec2 LTC_Uv( const in vec3 N, const in vec3 V, const in float roughness ) {
	const float LUT_SIZE = 64.0;
	const float LUT_SCALE = ( LUT_SIZE - 1.0 ) / LUT_SIZE;
	const float LUT_BIAS = 0.5 / LUT_SIZE;
	float dotNV = saturate( dot( N, V ) );
	vec2 uv = vec2( roughness, sqrt( 1.0 - dotNV ) );
	uv = uv * LUT_SCALE + LUT_BIAS;
	return uv;
}
float LTC_ClippedSphereFormFactor( const in vec3 f ) {
	float l = length( f );
	return max( ( l * l + f.z ) / ( l + 1.0 ), 0.0 );
}
vec3 LTC_EdgeVectorFormFactor( const in vec3 v1, const in vec3 v2 ) {
	float x = dot( v1, v2 );
	float y = abs( x );
	float a = 0.8543985 + ( 0.4965155 + 0.0145206 * y ) * y;
	float b = 3.4175940 + ( 4.1616724 + y ) * y;
	float v = a / b;
	float theta_sintheta = ( x > 0.0 ) ? v : 0.5 * inversesqrt( max( 1.0 - x * x, 1e-7 ) ) - v;
	return cross( v1, v2 ) * theta_sintheta;
}
vec3 LTC_Evaluate( const in vec3 N, const in vec3 V, const in vec3 P, const in mat3 mInv, const in vec3 rectCoords[ 4 ] ) {
	vec3 v1 = rectCoords[ 1 ] - rectCoords[ 0 ];
	vec3 v2 = rectCoords[ 3 ] - rectCoords[ 0 ];
	vec3 lightNormal = cross( v1, v2 );
	if( dot( lightNormal, P - rectCoords[ 0 ] ) < 0.0 ) return vec3( 0.0 );
	vec3 T1, T2;
	T1 = normalize( V - N * dot( V, N ) );
	T2 = - cross( N, T1 );
	mat3 mat = mInv * transpose( mat3( T1, T2, N ) );
	vec3 coords[ 4 ];
	coords[ 0 ] = mat * ( rectCoords[ 0 ] - P );
	coords[ 1 ] = mat * ( rectCoords[ 1 ] - P );
	coords[ 2 ] = mat * ( rectCoords[ 2 ] - P );
	coords[ 3 ] = mat * ( rectCoords[ 3 ] - P );
	coords[ 0 ] = normalize( coords[ 0 ] );
	coords[ 1 ] = normalize( coords[ 1 ] );
	coords[ 2 ] = normalize( coords[ 2 ] );
	coords[ 3 ] = normalize( coords[ 3 ] );
	vec3 vectorFormFactor = vec3( 0.0 );
	vectorFormFactor += LTC_EdgeVectorFormFactor( coords[ 0 ], coords[ 1 ] );
	vectorFormFactor += LTC_EdgeVectorFormFactor( coords[ 1 ], coords[ 2 ] );
	vectorFormFactor += LTC_EdgeVectorFormFactor( coords[ 2 ], coords[ 3 ] );
	vectorFormFactor += LTC_EdgeVectorFormFactor( coords[ 3 ], coords[ 0 ] );
	float result = LTC_ClippedSphereFormFactor( vectorFormFactor );
	return vec3( result );
}
#if defined( USE_SHEEN )
float D_Charlie( float roughness, float dotNH ) {
	float alpha = pow2( roughness );
	float invAlpha = 1.0 / alpha;
	float cos2h = dotNH * dotNH;
	float sin2h = max( 1.0 - cos2h, 0.0078125 );
	return ( 2.0 + invAlpha ) * pow( sin2h, invAlpha * 0.5 ) / ( 2.0 * PI );
}
float V_Neubelt( float dotNV, float dotNL ) {
	return saturate( 1.0 / ( 4.0 * ( dotNL + dotNV - dotNL * dotNV ) ) );
}
vec3 BRDF_Sheen( const in vec3 lightDir, const in vec3 viewDir, const in vec3 normal, vec3 sheenColor, const in float sheenRoughness ) {
	vec3 halfDir = normalize( lightDir + viewDir );
	float dotNL = saturate( dot( normal, lightDir ) );
	float dotNV = saturate( dot( normal, viewDir ) );
	float dotNH = saturate( dot( normal, halfDir ) );
	float D = D_Charlie( sheenRoughness, dotNH );
	float V = V_Neubelt( dotNV, dotNL );
	return sheenColor * ( D * V );
}
#endif
float IBLSheenBRDF( const in vec3 normal, const in vec3 viewDir, const in float roughness ) {
	float dotNV = saturate( dot( normal, viewDir ) );
	float r2 = roughness * roughness;
	float rInv = 1.0 / ( roughness + 0.1 );
	float a = -1.9362 + 1.0678 * roughness + 0.4573 * r2 - 0.8469 * rInv;
	float b = -0.6014 + 0.5538 * roughness - 0.4670 * r2 - 0.1255 * rInv;
	float DG = exp( a * dotNV + b );
	return saturate( DG );
}
vec3 EnvironmentBRDF( const in vec3 normal, const in vec3 viewDir, const in vec3 specularColor, const in float specularF90, const in float roughness ) {
	float dotNV = saturate( dot( normal, viewDir ) );
	vec2 fab = texture2D( dfgLUT, vec2( roughness, dotNV ) ).rg;
	return specularColor * fab.x + specularF90 * fab.y;
}
#ifdef USE_IRIDESCENCE
void computeMultiscatteringIridescence( const in vec2 fab, const in vec3 specularColor, const in float specularF90, const in float iridescence, const in vec3 iridescenceF0, inout vec3 singleScatter, inout vec3 multiScatter ) {
#else
void computeMultiscattering( const in vec2 fab, const in vec3 specularColor, const in float specularF90, inout vec3 singleScatter, inout vec3 multiScatter ) {
#endif
	#ifdef USE_IRIDESCENCE
		vec3 Fr = mix( specularColor, iridescenceF0, iridescence );
	#else
		vec3 Fr = specularColor;
	#endif
	vec3 FssEss = Fr * fab.x + specularF90 * fab.y;
	float Ess = fab.x + fab.y;
	float Ems = 1.0 - Ess;
	vec3 Favg = Fr + ( 1.0 - Fr ) * 0.047619;	vec3 Fms = FssEss * Favg / ( 1.0 - Ems * Favg );
	singleScatter += FssEss;
	multiScatter += Fms * Ems;
}
#if NUM_RECT_AREA_LIGHTS > 0
	void RE_Direct_RectArea_Physical( const in RectAreaLight rectAreaLight, const in vec3 geometryPosition, const in vec3 geometryNormal, const in vec3 geometryViewDir, const in vec3 geometryClearcoatNormal, const in PhysicalMaterial material, inout ReflectedLight reflectedLight ) {
		vec3 normal = geometryNormal;
		vec3 viewDir = geometryViewDir;
		vec3 position = geometryPosition;
		vec3 lightPos = rectAreaLight.position;
		vec3 halfWidth = rectAreaLight.halfWidth;
		vec3 halfHeight = rectAreaLight.halfHeight;
		vec3 lightColor = rectAreaLight.color;
		float roughness = material.roughness;
		vec3 rectCoords[ 4 ];
		rectCoords[ 0 ] = lightPos + halfWidth - halfHeight;		rectCoords[ 1 ] = lightPos - halfWidth - halfHeight;
		rectCoords[ 2 ] = lightPos - halfWidth + halfHeight;
		rectCoords[ 3 ] = lightPos + halfWidth + halfHeight;
		vec2 uv = LTC_Uv( normal, viewDir, roughness );
		vec4 t1 = texture2D( ltc_1, uv );
		vec4 t2 = texture2D( ltc_2, uv );
		mat3 mInv = mat3(
			vec3( t1.x, 0, t1.y ),
			vec3(    0, 1,    0 ),
			vec3( t1.z, 0, t1.w )
		);
		vec3 fresnel = ( material.specularColorBlended * t2.x + ( material.specularF90 - material.specularColorBlended ) * t2.y );
		reflectedLight.directSpecular += lightColor * fresnel * LTC_Evaluate( normal, viewDir, position, mInv, rectCoords );
		reflectedLight.directDiffuse += lightColor * material.diffuseContribution * LTC_Evaluate( normal, viewDir, position, mat3( 1.0 ), rectCoords );
		#ifdef USE_CLEARCOAT
			vec3 Ncc = geometryClearcoatNormal;
			vec2 uvClearcoat = LTC_Uv( Ncc, viewDir, material.clearcoatRoughness );
			vec4 t1Clearcoat = texture2D( ltc_1, uvClearcoat );
			vec4 t2Clearcoat = texture2D( ltc_2, uvClearcoat );
			mat3 mInvClearcoat = mat3(
				vec3( t1Clearcoat.x, 0, t1Clearcoat.y ),
				vec3(             0, 1,             0 ),
				vec3( t1Clearcoat.z, 0, t1Clearcoat.w )
			);
			vec3 fresnelClearcoat = material.clearcoatF0 * t2Clearcoat.x + ( material.clearcoatF90 - material.clearcoatF0 ) * t2Clearcoat.y;
			clearcoatSpecularDirect += lightColor * fresnelClearcoat * LTC_Evaluate( Ncc, viewDir, position, mInvClearcoat, rectCoords );
		#endif
	}
#endif
void RE_Direct_Physical( const in IncidentLight directLight, const in vec3 geometryPosition, const in vec3 geometryNormal, const in vec3 geometryViewDir, const in vec3 geometryClearcoatNormal, const in PhysicalMaterial material, inout ReflectedLight reflectedLight ) {
	float dotNL = saturate( dot( geometryNormal, directLight.direction ) );
	vec3 irradiance = dotNL * directLight.color;
	#ifdef USE_CLEARCOAT
		float dotNLcc = saturate( dot( geometryClearcoatNormal, directLight.direction ) );
		vec3 ccIrradiance = dotNLcc * directLight.color;
		clearcoatSpecularDirect += ccIrradiance * BRDF_GGX_Clearcoat( directLight.direction, geometryViewDir, geometryClearcoatNormal, material );
	#endif
	#ifdef USE_SHEEN
 
 		sheenSpecularDirect += irradiance * BRDF_Sheen( directLight.direction, geometryViewDir, geometryNormal, material.sheenColor, material.sheenRoughness );
 
 		float sheenAlbedoV = IBLSheenBRDF( geometryNormal, geometryViewDir, material.sheenRoughness );
 		float sheenAlbedoL = IBLSheenBRDF( geometryNormal, directLight.direction, material.sheenRoughness );
 
 		float sheenEnergyComp = 1.0 - max3( material.sheenColor ) * max( sheenAlbedoV, sheenAlbedoL );
 
 		irradiance *= sheenEnergyComp;
 
 	#endif
	vec3 specularBRDF = BRDF_GGX( directLight.direction, geometryViewDir, geometryNormal, material );
	#ifdef USE_RETROREFLECTION
		vec3 retroViewDir = reflect( - geometryViewDir, geometryNormal );
		vec3 retroSpecularBRDF = BRDF_GGX( directLight.direction, retroViewDir, geometryNormal, material );
		specularBRDF = mix( specularBRDF, retroSpecularBRDF, saturate( material.retroreflectivity ) );
	#endif
	reflectedLight.directSpecular += irradiance * specularBRDF * material.multiScatteringCompensation;
	vec3 halfDir = normalize( directLight.direction + geometryViewDir );
	float dotVH = saturate( dot( geometryViewDir, halfDir ) );
	vec3 F = F_Schlick( material.specularColor, material.specularF90, dotVH );
	#ifdef USE_RETROREFLECTION
		vec3 retroHalfDir = normalize( directLight.direction + retroViewDir );
		float dotRetroVH = saturate( dot( retroViewDir, retroHalfDir ) );
		vec3 retroF = F_Schlick( material.specularColor, material.specularF90, dotRetroVH );
		F = mix( F, retroF, saturate( material.retroreflectivity ) );
	#endif
	#ifdef USE_DIFFUSE_ROUGHNESS
		vec3 diffuseBRDF = BRDF_EON( directLight.direction, geometryViewDir, geometryNormal, material.diffuseColor, material.diffuseRoughness ) * ( 1.0 - material.metalness );
	#else
		vec3 diffuseBRDF = BRDF_Lambert( material.diffuseContribution );
	#endif
	reflectedLight.directDiffuse += irradiance * diffuseBRDF * ( 1.0 - F );
}
void RE_IndirectDiffuse_Physical( const in vec3 irradiance, const in vec3 geometryPosition, const in vec3 geometryNormal, const in vec3 geometryViewDir, const in vec3 geometryClearcoatNormal, const in PhysicalMaterial material, inout ReflectedLight reflectedLight ) {
	vec3 singleScattering = vec3( 0.0 );
	vec3 multiScattering = vec3( 0.0 );
	#ifdef USE_IRIDESCENCE
		computeMultiscatteringIridescence( material.dfg, material.specularColor, material.specularF90, material.iridescence, material.iridescenceF0Dielectric, singleScattering, multiScattering );
	#else
		computeMultiscattering( material.dfg, material.specularColor, material.specularF90, singleScattering, multiScattering );
	#endif
	#ifdef USE_DIFFUSE_ROUGHNESS
		float dotNV = saturate( dot( geometryNormal, geometryViewDir ) );
		vec3 diffuseAlbedo = EON_DirectionalAlbedo( material.diffuseColor, material.diffuseRoughness, dotNV ) * ( 1.0 - material.metalness );
		vec3 diffuse = irradiance * RECIPROCAL_PI * diffuseAlbedo * ( 1.0 - singleScattering - multiScattering );
	#else
		vec3 diffuse = irradiance * BRDF_Lambert( material.diffuseContribution ) * ( 1.0 - singleScattering - multiScattering );
	#endif
	#ifdef USE_SHEEN
		float sheenAlbedo = IBLSheenBRDF( geometryNormal, geometryViewDir, material.sheenRoughness );
		sheenSpecularIndirect += irradiance * material.sheenColor * sheenAlbedo * RECIPROCAL_PI;
		float sheenEnergyComp = 1.0 - max3( material.sheenColor ) * sheenAlbedo;
		diffuse *= sheenEnergyComp;
	#endif
	reflectedLight.indirectDiffuse += diffuse;
}
void RE_IndirectSpecular_Physical( const in vec3 radiance, const in vec3 irradiance, const in vec3 clearcoatRadiance, const in vec3 geometryPosition, const in vec3 geometryNormal, const in vec3 geometryViewDir, const in vec3 geometryClearcoatNormal, const in PhysicalMaterial material, inout ReflectedLight reflectedLight) {
	#ifdef USE_CLEARCOAT
		clearcoatSpecularIndirect += clearcoatRadiance * EnvironmentBRDF( geometryClearcoatNormal, geometryViewDir, material.clearcoatF0, material.clearcoatF90, material.clearcoatRoughness );
	#endif
	#ifdef USE_SHEEN
		sheenSpecularIndirect += irradiance * material.sheenColor * IBLSheenBRDF( geometryNormal, geometryViewDir, material.sheenRoughness ) * RECIPROCAL_PI;
 	#endif
	vec3 singleScatteringDielectric = vec3( 0.0 );
	vec3 multiScatteringDielectric = vec3( 0.0 );
	vec3 singleScatteringMetallic = vec3( 0.0 );
	vec3 multiScatteringMetallic = vec3( 0.0 );
	#ifdef USE_IRIDESCENCE
		computeMultiscatteringIridescence( material.dfg, material.specularColor, material.specularF90, material.iridescence, material.iridescenceF0Dielectric, singleScatteringDielectric, multiScatteringDielectric );
		computeMultiscatteringIridescence( material.dfg, material.diffuseColor, material.specularF90, material.iridescence, material.iridescenceF0Metallic, singleScatteringMetallic, multiScatteringMetallic );
	#else
		computeMultiscattering( material.dfg, material.specularColor, material.specularF90, singleScatteringDielectric, multiScatteringDielectric );
		computeMultiscattering( material.dfg, material.diffuseColor, material.specularF90, singleScatteringMetallic, multiScatteringMetallic );
	#endif
	vec3 singleScattering = mix( singleScatteringDielectric, singleScatteringMetallic, material.metalness );
	vec3 multiScattering = mix( multiScatteringDielectric, multiScatteringMetallic, material.metalness );
	vec3 totalScatteringDielectric = singleScatteringDielectric + multiScatteringDielectric;
	#ifdef USE_DIFFUSE_ROUGHNESS
		float dotNV = saturate( dot( geometryNormal, geometryViewDir ) );
		vec3 diffuse = EON_DirectionalAlbedo( material.diffuseColor, material.diffuseRoughness, dotNV ) * ( 1.0 - material.metalness ) * ( 1.0 - totalScatteringDielectric );
	#else
		vec3 diffuse = material.diffuseContribution * ( 1.0 - totalScatteringDielectric );
	#endif
	vec3 cosineWeightedIrradiance = irradiance * RECIPROCAL_PI;
	vec3 indirectSpecular = radiance * singleScattering;
	indirectSpecular += multiScattering * cosineWeightedIrradiance;
	vec3 indirectDiffuse = diffuse * cosineWeightedIrradiance;
	#ifdef USE_SHEEN
		float sheenAlbedo = IBLSheenBRDF( geometryNormal, geometryViewDir, material.sheenRoughness );
		float sheenEnergyComp = 1.0 - max3( material.sheenColor ) * sheenAlbedo;
		indirectSpecular *= sheenEnergyComp;
		indirectDiffuse *= sheenEnergyComp;
	#endif
	reflectedLight.indirectSpecular += indirectSpecular;
	reflectedLight.indirectDiffuse += indirectDiffuse;
}
#define RE_Direct				RE_Direct_Physical
#define RE_Direct_RectArea		RE_Direct_RectArea_Physical
#define RE_IndirectDiffuse		RE_IndirectDiffuse_Physical
#define RE_IndirectSpecular		RE_IndirectSpecular_Physical
float computeSpecularOcclusion( const in float dotNV, const in float ambientOcclusion, const in float roughness ) {
	return saturate( pow( dotNV + ambientOcclusion, exp2( - 16.0 * roughness - 1.0 ) ) - 1.0 + ambientOcclusion );
}`,ES=`
vec3 geometryPosition = - vViewPosition;
vec3 geometryNormal = normal;
vec3 geometryViewDir = ( isOrthographic ) ? vec3( 0, 0, 1 ) : normalize( vViewPosition );
vec3 geometryClearcoatNormal = vec3( 0.0 );
#ifdef USE_CLEARCOAT
	geometryClearcoatNormal = clearcoatNormal;
#endif
#ifdef USE_IRIDESCENCE
	float dotNVi = saturate( dot( normal, geometryViewDir ) );
	if ( material.iridescenceThickness == 0.0 ) {
		material.iridescence = 0.0;
	} else {
		material.iridescence = saturate( material.iridescence );
	}
	if ( material.iridescence > 0.0 ) {
		vec3 iridescenceFresnelDielectric = evalIridescence( 1.0, material.iridescenceIOR, dotNVi, material.iridescenceThickness, material.specularColor );
		vec3 iridescenceFresnelMetallic = evalIridescence( 1.0, material.iridescenceIOR, dotNVi, material.iridescenceThickness, material.diffuseColor );
		material.iridescenceFresnel = mix( iridescenceFresnelDielectric, iridescenceFresnelMetallic, material.metalness );
		material.iridescenceF0Dielectric = Schlick_to_F0( iridescenceFresnelDielectric, 1.0, dotNVi );
		material.iridescenceF0Metallic = Schlick_to_F0( iridescenceFresnelMetallic, 1.0, dotNVi );
	}
#endif
#ifdef STANDARD
	float dotNVms = saturate( dot( geometryNormal, geometryViewDir ) );
	material.dfg = texture2D( dfgLUT, vec2( material.roughness, dotNVms ) ).rg;
	#if ( NUM_SUN_LIGHTS > 0 || NUM_DIR_LIGHTS > 0 || NUM_POINT_LIGHTS > 0 || NUM_SPOT_LIGHTS > 0 )
		float EssMs = material.dfg.x + material.dfg.y;
		material.multiScatteringCompensation = 1.0 + material.specularColorBlended * ( 1.0 / EssMs - 1.0 );
	#endif
#endif
IncidentLight directLight;
#if ( NUM_POINT_LIGHTS > 0 ) && defined( RE_Direct )
	PointLight pointLight;
	#if defined( USE_SHADOWMAP ) && NUM_POINT_LIGHT_SHADOWS > 0
	PointLightShadow pointLightShadow;
	#endif
	#pragma unroll_loop_start
	for ( int i = 0; i < NUM_POINT_LIGHTS; i ++ ) {
		pointLight = pointLights[ i ];
		getPointLightInfo( pointLight, geometryPosition, directLight );
		#if defined( USE_SHADOWMAP ) && ( UNROLLED_LOOP_INDEX < NUM_POINT_LIGHT_SHADOWS ) && ( defined( SHADOWMAP_TYPE_PCF ) || defined( SHADOWMAP_TYPE_BASIC ) )
		pointLightShadow = pointLightShadows[ i ];
		directLight.color *= ( directLight.visible && receiveShadow ) ? getPointShadow( pointShadowMap[ i ], pointLightShadow.shadowMapSize, pointLightShadow.shadowIntensity, pointLightShadow.shadowBias, pointLightShadow.shadowRadius, vPointShadowCoord[ i ], pointLightShadow.shadowCameraNear, pointLightShadow.shadowCameraFar ) : 1.0;
		#endif
		RE_Direct( directLight, geometryPosition, geometryNormal, geometryViewDir, geometryClearcoatNormal, material, reflectedLight );
	}
	#pragma unroll_loop_end
#endif
#if ( NUM_SPOT_LIGHTS > 0 ) && defined( RE_Direct )
	SpotLight spotLight;
	vec4 spotColor;
	vec3 spotLightCoord;
	bool inSpotLightMap;
	#if defined( USE_SHADOWMAP ) && NUM_SPOT_LIGHT_SHADOWS > 0
	SpotLightShadow spotLightShadow;
	#endif
	#pragma unroll_loop_start
	for ( int i = 0; i < NUM_SPOT_LIGHTS; i ++ ) {
		spotLight = spotLights[ i ];
		getSpotLightInfo( spotLight, geometryPosition, directLight );
		#if ( UNROLLED_LOOP_INDEX < NUM_SPOT_LIGHT_SHADOWS_WITH_MAPS )
		#define SPOT_LIGHT_MAP_INDEX UNROLLED_LOOP_INDEX
		#elif ( UNROLLED_LOOP_INDEX < NUM_SPOT_LIGHT_SHADOWS )
		#define SPOT_LIGHT_MAP_INDEX NUM_SPOT_LIGHT_MAPS
		#else
		#define SPOT_LIGHT_MAP_INDEX ( UNROLLED_LOOP_INDEX - NUM_SPOT_LIGHT_SHADOWS + NUM_SPOT_LIGHT_SHADOWS_WITH_MAPS )
		#endif
		#if ( SPOT_LIGHT_MAP_INDEX < NUM_SPOT_LIGHT_MAPS )
			spotLightCoord = vSpotLightCoord[ i ].xyz / vSpotLightCoord[ i ].w;
			inSpotLightMap = all( lessThan( abs( spotLightCoord * 2. - 1. ), vec3( 1.0 ) ) );
			spotColor = texture2D( spotLightMap[ SPOT_LIGHT_MAP_INDEX ], spotLightCoord.xy );
			directLight.color = inSpotLightMap ? directLight.color * spotColor.rgb : directLight.color;
		#endif
		#undef SPOT_LIGHT_MAP_INDEX
		#if defined( USE_SHADOWMAP ) && ( UNROLLED_LOOP_INDEX < NUM_SPOT_LIGHT_SHADOWS )
		spotLightShadow = spotLightShadows[ i ];
		directLight.color *= ( directLight.visible && receiveShadow ) ? getShadow( spotShadowMap[ i ], spotLightShadow.shadowMapSize, spotLightShadow.shadowIntensity, spotLightShadow.shadowBias, spotLightShadow.shadowRadius, vSpotLightCoord[ i ] ) : 1.0;
		#endif
		RE_Direct( directLight, geometryPosition, geometryNormal, geometryViewDir, geometryClearcoatNormal, material, reflectedLight );
	}
	#pragma unroll_loop_end
#endif
#if ( NUM_SUN_LIGHTS > 0 ) && defined( RE_Direct )
	SunLight sunLight;
	#if defined( USE_SHADOWMAP ) && NUM_SUN_LIGHT_SHADOWS > 0
	SunLightShadow sunLightShadow;
	#endif
	#pragma unroll_loop_start
	for ( int i = 0; i < NUM_SUN_LIGHTS; i ++ ) {
		sunLight = sunLights[ i ];
		getSunLightInfo( sunLight, directLight );
		#if defined( USE_SHADOWMAP ) && ( UNROLLED_LOOP_INDEX < NUM_SUN_LIGHT_SHADOWS )
		sunLightShadow = sunLightShadows[ i ];
		directLight.color *= ( directLight.visible && receiveShadow ) ? getSunShadow( sunShadowMap[ i ], sunLightShadow, UNROLLED_LOOP_INDEX ) : 1.0;
		#endif
		RE_Direct( directLight, geometryPosition, geometryNormal, geometryViewDir, geometryClearcoatNormal, material, reflectedLight );
	}
	#pragma unroll_loop_end
#endif
#if ( NUM_DIR_LIGHTS > 0 ) && defined( RE_Direct )
	DirectionalLight directionalLight;
	#if defined( USE_SHADOWMAP ) && NUM_DIR_LIGHT_SHADOWS > 0
	DirectionalLightShadow directionalLightShadow;
	#endif
	#pragma unroll_loop_start
	for ( int i = 0; i < NUM_DIR_LIGHTS; i ++ ) {
		directionalLight = directionalLights[ i ];
		getDirectionalLightInfo( directionalLight, directLight );
		#if defined( USE_SHADOWMAP ) && ( UNROLLED_LOOP_INDEX < NUM_DIR_LIGHT_SHADOWS )
		directionalLightShadow = directionalLightShadows[ i ];
		directLight.color *= ( directLight.visible && receiveShadow ) ? getShadow( directionalShadowMap[ i ], directionalLightShadow.shadowMapSize, directionalLightShadow.shadowIntensity, directionalLightShadow.shadowBias, directionalLightShadow.shadowRadius, vDirectionalShadowCoord[ i ] ) : 1.0;
		#endif
		RE_Direct( directLight, geometryPosition, geometryNormal, geometryViewDir, geometryClearcoatNormal, material, reflectedLight );
	}
	#pragma unroll_loop_end
#endif
#if ( NUM_RECT_AREA_LIGHTS > 0 ) && defined( RE_Direct_RectArea )
	RectAreaLight rectAreaLight;
	#pragma unroll_loop_start
	for ( int i = 0; i < NUM_RECT_AREA_LIGHTS; i ++ ) {
		rectAreaLight = rectAreaLights[ i ];
		RE_Direct_RectArea( rectAreaLight, geometryPosition, geometryNormal, geometryViewDir, geometryClearcoatNormal, material, reflectedLight );
	}
	#pragma unroll_loop_end
#endif
#if defined( RE_IndirectDiffuse )
	vec3 iblIrradiance = vec3( 0.0 );
	vec3 irradiance = getAmbientLightIrradiance( ambientLightColor );
	#if defined( USE_LIGHT_PROBES )
		irradiance += getLightProbeIrradiance( lightProbe, geometryNormal );
	#endif
	#if ( NUM_HEMI_LIGHTS > 0 )
		#pragma unroll_loop_start
		for ( int i = 0; i < NUM_HEMI_LIGHTS; i ++ ) {
			irradiance += getHemisphereLightIrradiance( hemisphereLights[ i ], geometryNormal );
		}
		#pragma unroll_loop_end
	#endif
	#if NUM_LIGHT_PROBE_GRIDS > 0
		vec3 probeWorldPos = ( ( vec4( geometryPosition, 1.0 ) - viewMatrix[ 3 ] ) * viewMatrix ).xyz;
		vec3 probeWorldNormal = transformNormalByInverseViewMatrix( geometryNormal, viewMatrix );
		int probeGrid = - 1;
		#pragma unroll_loop_start
		for ( int i = 0; i < NUM_LIGHT_PROBE_GRIDS; i ++ ) {
			if ( isInsideLightProbeGrid( probeWorldPos, probeWorldNormal, probesMin[ i ], probesMax[ i ], probesResolution[ i ] ) ) probeGrid = UNROLLED_LOOP_INDEX;
		}
		#pragma unroll_loop_end
		#pragma unroll_loop_start
		for ( int i = 0; i < NUM_LIGHT_PROBE_GRIDS; i ++ ) {
			if ( probeGrid == UNROLLED_LOOP_INDEX ) irradiance += getLightProbeGridIrradiance( probesSH[ i ], probesMin[ i ], probesMax[ i ], probesResolution[ i ], probeWorldPos, probeWorldNormal );
		}
		#pragma unroll_loop_end
	#endif
#endif
#if defined( RE_IndirectSpecular )
	vec3 radiance = vec3( 0.0 );
	vec3 clearcoatRadiance = vec3( 0.0 );
#endif`,TS=`#if defined( RE_IndirectDiffuse )
	#ifdef USE_LIGHTMAP
		vec4 lightMapTexel = texture2D( lightMap, vLightMapUv );
		vec3 lightMapIrradiance = lightMapTexel.rgb * lightMapIntensity;
		irradiance += lightMapIrradiance;
	#endif
	#if defined( USE_ENVMAP ) && defined( ENVMAP_TYPE_PMREM )
		#if defined( STANDARD ) || defined( LAMBERT ) || defined( PHONG )
			iblIrradiance += getIBLIrradiance( geometryNormal );
		#endif
	#endif
#endif
#if defined( USE_ENVMAP ) && defined( RE_IndirectSpecular )
	#ifdef USE_ANISOTROPY
		vec3 iblRadiance = getIBLAnisotropyRadiance( geometryViewDir, geometryNormal, material.roughness, material.anisotropyB, material.anisotropy );
	#else
		vec3 iblRadiance = getIBLRadiance( geometryViewDir, geometryNormal, material.roughness );
	#endif
	#ifdef USE_RETROREFLECTION
		#ifdef USE_ANISOTROPY
			vec3 retroIBLRadiance = getIBLAnisotropyRetroRadiance( geometryViewDir, geometryNormal, material.roughness, material.anisotropyB, material.anisotropy );
		#else
			vec3 retroIBLRadiance = getIBLRetroRadiance( geometryViewDir, geometryNormal, material.roughness );
		#endif
		iblRadiance = mix( iblRadiance, retroIBLRadiance, saturate( material.retroreflectivity ) );
	#endif
	radiance += iblRadiance;
	#ifdef USE_CLEARCOAT
		clearcoatRadiance += getIBLRadiance( geometryViewDir, geometryClearcoatNormal, material.clearcoatRoughness );
	#endif
#endif`,CS=`#if defined( RE_IndirectDiffuse )
	#if defined( LAMBERT ) || defined( PHONG )
		irradiance += iblIrradiance;
	#endif
	RE_IndirectDiffuse( irradiance, geometryPosition, geometryNormal, geometryViewDir, geometryClearcoatNormal, material, reflectedLight );
#endif
#if defined( RE_IndirectSpecular )
	RE_IndirectSpecular( radiance, iblIrradiance, clearcoatRadiance, geometryPosition, geometryNormal, geometryViewDir, geometryClearcoatNormal, material, reflectedLight );
#endif`,RS=`#if NUM_LIGHT_PROBE_GRIDS > 0
uniform highp sampler3D probesSH[ NUM_LIGHT_PROBE_GRIDS ];
uniform vec3 probesMin[ NUM_LIGHT_PROBE_GRIDS ];
uniform vec3 probesMax[ NUM_LIGHT_PROBE_GRIDS ];
uniform vec3 probesResolution[ NUM_LIGHT_PROBE_GRIDS ];
bool isInsideLightProbeGrid( vec3 worldPos, vec3 worldNormal, vec3 probesMin, vec3 probesMax, vec3 probesResolution ) {
	vec3 spacing = ( probesMax - probesMin ) / probesResolution;
	vec3 samplePos = worldPos + worldNormal * spacing * 0.5;
	vec3 margin = spacing * 0.01;
	return all( greaterThanEqual( samplePos, probesMin - margin ) ) && all( lessThanEqual( samplePos, probesMax + margin ) );
}
vec3 getLightProbeGridIrradiance( highp sampler3D probesSH, vec3 probesMin, vec3 probesMax, vec3 probesResolution, vec3 worldPos, vec3 worldNormal ) {
	vec3 res = probesResolution;
	vec3 gridRange = probesMax - probesMin;
	vec3 probeSpacing = gridRange / res;
	vec3 samplePos = worldPos + worldNormal * probeSpacing * 0.5;
	vec3 uvw = clamp( ( samplePos - probesMin ) / gridRange, 0.5 / res, 1.0 - 0.5 / res );
	float nz          = res.z;
	float paddedSlices = nz + 2.0;
	float atlasDepth  = 7.0 * paddedSlices;
	float uvZBase     = uvw.z * nz + 1.0;
	vec4 s0 = texture( probesSH, vec3( uvw.xy, ( uvZBase                       ) / atlasDepth ) );
	vec4 s1 = texture( probesSH, vec3( uvw.xy, ( uvZBase +       paddedSlices   ) / atlasDepth ) );
	vec4 s2 = texture( probesSH, vec3( uvw.xy, ( uvZBase + 2.0 * paddedSlices   ) / atlasDepth ) );
	vec4 s3 = texture( probesSH, vec3( uvw.xy, ( uvZBase + 3.0 * paddedSlices   ) / atlasDepth ) );
	vec4 s4 = texture( probesSH, vec3( uvw.xy, ( uvZBase + 4.0 * paddedSlices   ) / atlasDepth ) );
	vec4 s5 = texture( probesSH, vec3( uvw.xy, ( uvZBase + 5.0 * paddedSlices   ) / atlasDepth ) );
	vec4 s6 = texture( probesSH, vec3( uvw.xy, ( uvZBase + 6.0 * paddedSlices   ) / atlasDepth ) );
	vec3 c0 = s0.xyz;
	vec3 c1 = vec3( s0.w, s1.xy );
	vec3 c2 = vec3( s1.zw, s2.x );
	vec3 c3 = s2.yzw;
	vec3 c4 = s3.xyz;
	vec3 c5 = vec3( s3.w, s4.xy );
	vec3 c6 = vec3( s4.zw, s5.x );
	vec3 c7 = s5.yzw;
	vec3 c8 = s6.xyz;
	float x = worldNormal.x, y = worldNormal.y, z = worldNormal.z;
	vec3 result = c0 * 0.886227;
	result += c1 * 2.0 * 0.511664 * y;
	result += c2 * 2.0 * 0.511664 * z;
	result += c3 * 2.0 * 0.511664 * x;
	result += c4 * 2.0 * 0.429043 * x * y;
	result += c5 * 2.0 * 0.429043 * y * z;
	result += c6 * ( 0.743125 * z * z - 0.247708 );
	result += c7 * 2.0 * 0.429043 * x * z;
	result += c8 * 0.429043 * ( x * x - y * y );
	return max( result, vec3( 0.0 ) );
}
#endif`,PS=`#if defined( USE_LOGARITHMIC_DEPTH_BUFFER )
	gl_FragDepth = vIsPerspective == 0.0 ? gl_FragCoord.z : log2( vFragDepth ) * logDepthBufFC * 0.5;
#endif`,IS=`#if defined( USE_LOGARITHMIC_DEPTH_BUFFER )
	uniform float logDepthBufFC;
	varying float vFragDepth;
	varying float vIsPerspective;
#endif`,LS=`#ifdef USE_LOGARITHMIC_DEPTH_BUFFER
	varying float vFragDepth;
	varying float vIsPerspective;
#endif`,DS=`#ifdef USE_LOGARITHMIC_DEPTH_BUFFER
	vFragDepth = 1.0 + gl_Position.w;
	vIsPerspective = float( isPerspectiveMatrix( projectionMatrix ) );
#endif`,NS=`#ifdef USE_MAP
	vec4 sampledDiffuseColor = texture2D( map, vMapUv );
	#ifdef DECODE_VIDEO_TEXTURE
		sampledDiffuseColor = sRGBTransferEOTF( sampledDiffuseColor );
	#endif
	diffuseColor *= sampledDiffuseColor;
#endif`,US=`#ifdef USE_MAP
	uniform sampler2D map;
#endif`,FS=`#if defined( USE_MAP ) || defined( USE_ALPHAMAP )
	#if defined( USE_POINTS_UV )
		vec2 uv = vUv;
	#else
		vec2 uv = ( uvTransform * vec3( gl_PointCoord.x, 1.0 - gl_PointCoord.y, 1 ) ).xy;
	#endif
#endif
#ifdef USE_MAP
	diffuseColor *= texture2D( map, uv );
#endif
#ifdef USE_ALPHAMAP
	diffuseColor.a *= texture2D( alphaMap, uv ).g;
#endif`,OS=`#if defined( USE_POINTS_UV )
	varying vec2 vUv;
#else
	#if defined( USE_MAP ) || defined( USE_ALPHAMAP )
		uniform mat3 uvTransform;
	#endif
#endif
#ifdef USE_MAP
	uniform sampler2D map;
#endif
#ifdef USE_ALPHAMAP
	uniform sampler2D alphaMap;
#endif`,BS=`float metalnessFactor = metalness;
#ifdef USE_METALNESSMAP
	vec4 texelMetalness = texture2D( metalnessMap, vMetalnessMapUv );
	metalnessFactor *= texelMetalness.b;
#endif`,kS=`#ifdef USE_METALNESSMAP
	uniform sampler2D metalnessMap;
#endif`,zS=`#ifdef USE_INSTANCING_MORPH
	float morphTargetInfluences[ MORPHTARGETS_COUNT ];
	float morphTargetBaseInfluence = texelFetch( morphTexture, ivec2( 0, gl_InstanceID ), 0 ).r;
	for ( int i = 0; i < MORPHTARGETS_COUNT; i ++ ) {
		morphTargetInfluences[i] =  texelFetch( morphTexture, ivec2( i + 1, gl_InstanceID ), 0 ).r;
	}
#endif`,VS=`#if defined( USE_MORPHCOLORS )
	#if defined( USE_COLOR_ALPHA )
		vColor *= morphTargetBaseInfluence;
	#elif defined( USE_COLOR )
		vColor.rgb *= morphTargetBaseInfluence;
	#endif
	for ( int i = 0; i < MORPHTARGETS_COUNT; i ++ ) {
		#if defined( USE_COLOR_ALPHA )
			if ( morphTargetInfluences[ i ] != 0.0 ) vColor += getMorph( gl_VertexID, i, 2 ) * morphTargetInfluences[ i ];
		#elif defined( USE_COLOR )
			if ( morphTargetInfluences[ i ] != 0.0 ) vColor.rgb += getMorph( gl_VertexID, i, 2 ).rgb * morphTargetInfluences[ i ];
		#endif
	}
#endif`,GS=`#ifdef USE_MORPHNORMALS
	objectNormal *= morphTargetBaseInfluence;
	for ( int i = 0; i < MORPHTARGETS_COUNT; i ++ ) {
		if ( morphTargetInfluences[ i ] != 0.0 ) objectNormal += getMorph( gl_VertexID, i, 1 ).xyz * morphTargetInfluences[ i ];
	}
#endif`,HS=`#ifdef USE_MORPHTARGETS
	#ifndef USE_INSTANCING_MORPH
		uniform float morphTargetBaseInfluence;
		uniform float morphTargetInfluences[ MORPHTARGETS_COUNT ];
	#endif
	uniform sampler2DArray morphTargetsTexture;
	uniform ivec2 morphTargetsTextureSize;
	vec4 getMorph( const in int vertexIndex, const in int morphTargetIndex, const in int offset ) {
		int texelIndex = vertexIndex * MORPHTARGETS_TEXTURE_STRIDE + offset;
		int y = texelIndex / morphTargetsTextureSize.x;
		int x = texelIndex - y * morphTargetsTextureSize.x;
		ivec3 morphUV = ivec3( x, y, morphTargetIndex );
		return texelFetch( morphTargetsTexture, morphUV, 0 );
	}
#endif`,WS=`#ifdef USE_MORPHTARGETS
	transformed *= morphTargetBaseInfluence;
	for ( int i = 0; i < MORPHTARGETS_COUNT; i ++ ) {
		if ( morphTargetInfluences[ i ] != 0.0 ) transformed += getMorph( gl_VertexID, i, 0 ).xyz * morphTargetInfluences[ i ];
	}
#endif`,XS=`float faceDirection = gl_FrontFacing ? 1.0 : - 1.0;
#ifdef FLAT_SHADED
	vec3 fdx = dFdx( vViewPosition );
	vec3 fdy = dFdy( vViewPosition );
	vec3 normal = normalize( cross( fdx, fdy ) );
#else
	vec3 normal = normalize( vNormal );
	#ifdef DOUBLE_SIDED
		normal *= faceDirection;
	#endif
#endif
#if defined( USE_NORMALMAP_TANGENTSPACE ) || defined( USE_CLEARCOAT_NORMALMAP ) || defined( USE_ANISOTROPY )
	#ifdef USE_TANGENT
		mat3 tbn = mat3( normalize( vTangent ), normalize( vBitangent ), normal );
	#else
		mat3 tbn = getTangentFrame( - vViewPosition, normal,
		#if defined( USE_NORMALMAP )
			vNormalMapUv
		#elif defined( USE_CLEARCOAT_NORMALMAP )
			vClearcoatNormalMapUv
		#else
			vUv
		#endif
		);
	#endif
	#ifdef DOUBLE_SIDED
		tbn[0] *= faceDirection;
		tbn[1] *= faceDirection;
	#endif
#endif
#ifdef USE_CLEARCOAT_NORMALMAP
	#ifdef USE_TANGENT
		mat3 tbn2 = mat3( normalize( vTangent ), normalize( vBitangent ), normal );
	#else
		mat3 tbn2 = getTangentFrame( - vViewPosition, normal, vClearcoatNormalMapUv );
	#endif
	#ifdef DOUBLE_SIDED
		tbn2[0] *= faceDirection;
		tbn2[1] *= faceDirection;
	#endif
#endif
vec3 nonPerturbedNormal = normal;`,qS=`#ifdef USE_NORMALMAP_OBJECTSPACE
	normal = texture2D( normalMap, vNormalMapUv ).xyz * 2.0 - 1.0;
	#ifdef FLIP_SIDED
		normal = - normal;
	#endif
	#ifdef DOUBLE_SIDED
		normal = normal * faceDirection;
	#endif
	normal = normalize( normalMatrix * normal );
#elif defined( USE_NORMALMAP_TANGENTSPACE )
	vec3 mapN = texture2D( normalMap, vNormalMapUv ).xyz * 2.0 - 1.0;
	#if defined( USE_PACKED_NORMALMAP )
		mapN = vec3( mapN.xy, sqrt( saturate( 1.0 - dot( mapN.xy, mapN.xy ) ) ) );
	#endif
	mapN.xy *= normalScale;
	normal = normalize( tbn * mapN );
#elif defined( USE_BUMPMAP )
	normal = perturbNormalArb( - vViewPosition, normal, dHdxy_fwd(), faceDirection );
#endif`,YS=`#ifndef FLAT_SHADED
	varying vec3 vNormal;
	#ifdef USE_TANGENT
		varying vec3 vTangent;
		varying vec3 vBitangent;
	#endif
#endif`,ZS=`#ifndef FLAT_SHADED
	varying vec3 vNormal;
	#ifdef USE_TANGENT
		varying vec3 vTangent;
		varying vec3 vBitangent;
	#endif
#endif`,JS=`#ifndef FLAT_SHADED
	vNormal = normalize( transformedNormal );
	#ifdef USE_TANGENT
		vTangent = normalize( transformedTangent );
		vBitangent = normalize( cross( vNormal, vTangent ) * tangent.w );
		#ifdef FLIP_SIDED
			vBitangent = - vBitangent;
		#endif
	#endif
#endif`,$S=`#ifdef USE_NORMALMAP
	uniform sampler2D normalMap;
	uniform vec2 normalScale;
#endif
#ifdef USE_NORMALMAP_OBJECTSPACE
	uniform mat3 normalMatrix;
#endif
#if ! defined ( USE_TANGENT ) && ( defined ( USE_NORMALMAP_TANGENTSPACE ) || defined ( USE_CLEARCOAT_NORMALMAP ) || defined( USE_ANISOTROPY ) )
	mat3 getTangentFrame( vec3 eye_pos, vec3 surf_norm, vec2 uv ) {
		vec3 q0 = dFdx( eye_pos.xyz );
		vec3 q1 = dFdy( eye_pos.xyz );
		vec2 st0 = dFdx( uv.st );
		vec2 st1 = dFdy( uv.st );
		vec3 N = surf_norm;
		vec3 q1perp = cross( q1, N );
		vec3 q0perp = cross( N, q0 );
		vec3 T = q1perp * st0.x + q0perp * st1.x;
		vec3 B = q1perp * st0.y + q0perp * st1.y;
		float det = max( dot( T, T ), dot( B, B ) );
		float scale = ( det == 0.0 ) ? 0.0 : inversesqrt( det );
		return mat3( T * scale, B * scale, N );
	}
#endif`,KS=`#ifdef USE_CLEARCOAT
	vec3 clearcoatNormal = nonPerturbedNormal;
#endif`,jS=`#ifdef USE_CLEARCOAT_NORMALMAP
	vec3 clearcoatMapN = texture2D( clearcoatNormalMap, vClearcoatNormalMapUv ).xyz * 2.0 - 1.0;
	clearcoatMapN.xy *= clearcoatNormalScale;
	clearcoatNormal = normalize( tbn2 * clearcoatMapN );
#endif`,QS=`#ifdef USE_CLEARCOATMAP
	uniform sampler2D clearcoatMap;
#endif
#ifdef USE_CLEARCOAT_NORMALMAP
	uniform sampler2D clearcoatNormalMap;
	uniform vec2 clearcoatNormalScale;
#endif
#ifdef USE_CLEARCOAT_ROUGHNESSMAP
	uniform sampler2D clearcoatRoughnessMap;
#endif`,tM=`#ifdef USE_IRIDESCENCEMAP
	uniform sampler2D iridescenceMap;
#endif
#ifdef USE_IRIDESCENCE_THICKNESSMAP
	uniform sampler2D iridescenceThicknessMap;
#endif`,eM=`#ifdef OPAQUE
diffuseColor.a = 1.0;
#endif
#ifdef USE_TRANSMISSION
diffuseColor.a *= material.transmissionAlpha;
#endif
gl_FragColor = vec4( outgoingLight, diffuseColor.a );`,nM=`vec3 packNormalToRGB( const in vec3 normal ) {
	return normalize( normal ) * 0.5 + 0.5;
}
vec3 unpackRGBToNormal( const in vec3 rgb ) {
	return 2.0 * rgb.xyz - 1.0;
}
const float PackUpscale = 256. / 255.;const float UnpackDownscale = 255. / 256.;const float ShiftRight8 = 1. / 256.;
const float Inv255 = 1. / 255.;
const vec4 PackFactors = vec4( 1.0, 256.0, 256.0 * 256.0, 256.0 * 256.0 * 256.0 );
const vec2 UnpackFactors2 = vec2( UnpackDownscale, 1.0 / PackFactors.g );
const vec3 UnpackFactors3 = vec3( UnpackDownscale / PackFactors.rg, 1.0 / PackFactors.b );
const vec4 UnpackFactors4 = vec4( UnpackDownscale / PackFactors.rgb, 1.0 / PackFactors.a );
vec4 packDepthToRGBA( const in float v ) {
	if( v <= 0.0 )
		return vec4( 0., 0., 0., 0. );
	if( v >= 1.0 )
		return vec4( 1., 1., 1., 1. );
	float vuf;
	float af = modf( v * PackFactors.a, vuf );
	float bf = modf( vuf * ShiftRight8, vuf );
	float gf = modf( vuf * ShiftRight8, vuf );
	return vec4( vuf * Inv255, gf * PackUpscale, bf * PackUpscale, af );
}
vec3 packDepthToRGB( const in float v ) {
	if( v <= 0.0 )
		return vec3( 0., 0., 0. );
	if( v >= 1.0 )
		return vec3( 1., 1., 1. );
	float vuf;
	float bf = modf( v * PackFactors.b, vuf );
	float gf = modf( vuf * ShiftRight8, vuf );
	return vec3( vuf * Inv255, gf * PackUpscale, bf );
}
vec2 packDepthToRG( const in float v ) {
	if( v <= 0.0 )
		return vec2( 0., 0. );
	if( v >= 1.0 )
		return vec2( 1., 1. );
	float vuf;
	float gf = modf( v * 256., vuf );
	return vec2( vuf * Inv255, gf );
}
float unpackRGBAToDepth( const in vec4 v ) {
	return dot( v, UnpackFactors4 );
}
float unpackRGBToDepth( const in vec3 v ) {
	return dot( v, UnpackFactors3 );
}
float unpackRGToDepth( const in vec2 v ) {
	return v.r * UnpackFactors2.r + v.g * UnpackFactors2.g;
}
vec4 pack2HalfToRGBA( const in vec2 v ) {
	vec4 r = vec4( v.x, fract( v.x * 255.0 ), v.y, fract( v.y * 255.0 ) );
	return vec4( r.x - r.y / 255.0, r.y, r.z - r.w / 255.0, r.w );
}
vec2 unpackRGBATo2Half( const in vec4 v ) {
	return vec2( v.x + ( v.y / 255.0 ), v.z + ( v.w / 255.0 ) );
}
float viewZToOrthographicDepth( const in float viewZ, const in float near, const in float far ) {
	return ( viewZ + near ) / ( near - far );
}
float orthographicDepthToViewZ( const in float depth, const in float near, const in float far ) {
	#ifdef USE_REVERSED_DEPTH_BUFFER
	
		return depth * ( far - near ) - far;
	#else
		return depth * ( near - far ) - near;
	#endif
}
float viewZToPerspectiveDepth( const in float viewZ, const in float near, const in float far ) {
	return ( ( near + viewZ ) * far ) / ( ( far - near ) * viewZ );
}
float perspectiveDepthToViewZ( const in float depth, const in float near, const in float far ) {
	
	#ifdef USE_REVERSED_DEPTH_BUFFER
		return ( near * far ) / ( ( near - far ) * depth - near );
	#else
		return ( near * far ) / ( ( far - near ) * depth - far );
	#endif
}`,iM=`#ifdef PREMULTIPLIED_ALPHA
	gl_FragColor.rgb *= gl_FragColor.a;
#endif`,sM=`vec4 mvPosition = vec4( transformed, 1.0 );
#ifdef USE_BATCHING
	mvPosition = batchingMatrix * mvPosition;
#endif
#ifdef USE_INSTANCING
	mvPosition = instanceMatrix * mvPosition;
#endif
mvPosition = modelViewMatrix * mvPosition;
gl_Position = projectionMatrix * mvPosition;`,rM=`#ifdef DITHERING
	gl_FragColor.rgb = dithering( gl_FragColor.rgb );
#endif`,oM=`#ifdef DITHERING
	vec3 dithering( vec3 color ) {
		float grid_position = rand( gl_FragCoord.xy );
		vec3 dither_shift_RGB = vec3( 0.25 / 255.0, -0.25 / 255.0, 0.25 / 255.0 );
		dither_shift_RGB = mix( 2.0 * dither_shift_RGB, -2.0 * dither_shift_RGB, grid_position );
		return color + dither_shift_RGB;
	}
#endif`,aM=`float roughnessFactor = roughness;
#ifdef USE_ROUGHNESSMAP
	vec4 texelRoughness = texture2D( roughnessMap, vRoughnessMapUv );
	roughnessFactor *= texelRoughness.g;
#endif`,lM=`#ifdef USE_ROUGHNESSMAP
	uniform sampler2D roughnessMap;
#endif`,cM=`#if NUM_SPOT_LIGHT_COORDS > 0
	varying vec4 vSpotLightCoord[ NUM_SPOT_LIGHT_COORDS ];
#endif
#if NUM_SPOT_LIGHT_MAPS > 0
	uniform sampler2D spotLightMap[ NUM_SPOT_LIGHT_MAPS ];
#endif
#ifdef USE_SHADOWMAP
	#if NUM_SUN_LIGHT_SHADOWS > 0
		#define SUN_LIGHT_CASCADES 2
		#if defined( SHADOWMAP_TYPE_PCF )
			uniform sampler2DShadow sunShadowMap[ NUM_SUN_LIGHT_SHADOWS ];
		#else
			uniform sampler2D sunShadowMap[ NUM_SUN_LIGHT_SHADOWS ];
		#endif
		uniform mat4 sunShadowMatrix[ NUM_SUN_LIGHT_SHADOWS * SUN_LIGHT_CASCADES ];
		uniform vec4 sunShadowCascade[ NUM_SUN_LIGHT_SHADOWS * SUN_LIGHT_CASCADES ];
		varying vec4 vSunShadowWorldPosition;
		varying vec3 vSunShadowWorldNormal;
		struct SunLightShadow {
			float shadowIntensity;
			float shadowBias;
			float shadowNormalBias;
			float shadowRadius;
			vec2 shadowMapSize;
		};
		uniform SunLightShadow sunLightShadows[ NUM_SUN_LIGHT_SHADOWS ];
	#endif
	#if NUM_DIR_LIGHT_SHADOWS > 0
		#if defined( SHADOWMAP_TYPE_PCF )
			uniform sampler2DShadow directionalShadowMap[ NUM_DIR_LIGHT_SHADOWS ];
		#else
			uniform sampler2D directionalShadowMap[ NUM_DIR_LIGHT_SHADOWS ];
		#endif
		varying vec4 vDirectionalShadowCoord[ NUM_DIR_LIGHT_SHADOWS ];
		struct DirectionalLightShadow {
			float shadowIntensity;
			float shadowBias;
			float shadowNormalBias;
			float shadowRadius;
			vec2 shadowMapSize;
		};
		uniform DirectionalLightShadow directionalLightShadows[ NUM_DIR_LIGHT_SHADOWS ];
	#endif
	#if NUM_SPOT_LIGHT_SHADOWS > 0
		#if defined( SHADOWMAP_TYPE_PCF )
			uniform sampler2DShadow spotShadowMap[ NUM_SPOT_LIGHT_SHADOWS ];
		#else
			uniform sampler2D spotShadowMap[ NUM_SPOT_LIGHT_SHADOWS ];
		#endif
		struct SpotLightShadow {
			float shadowIntensity;
			float shadowBias;
			float shadowNormalBias;
			float shadowRadius;
			vec2 shadowMapSize;
		};
		uniform SpotLightShadow spotLightShadows[ NUM_SPOT_LIGHT_SHADOWS ];
	#endif
	#if NUM_POINT_LIGHT_SHADOWS > 0
		#if defined( SHADOWMAP_TYPE_PCF )
			uniform samplerCubeShadow pointShadowMap[ NUM_POINT_LIGHT_SHADOWS ];
		#elif defined( SHADOWMAP_TYPE_BASIC )
			uniform samplerCube pointShadowMap[ NUM_POINT_LIGHT_SHADOWS ];
		#endif
		varying vec4 vPointShadowCoord[ NUM_POINT_LIGHT_SHADOWS ];
		struct PointLightShadow {
			float shadowIntensity;
			float shadowBias;
			float shadowNormalBias;
			float shadowRadius;
			vec2 shadowMapSize;
			float shadowCameraNear;
			float shadowCameraFar;
		};
		uniform PointLightShadow pointLightShadows[ NUM_POINT_LIGHT_SHADOWS ];
	#endif
	#if defined( SHADOWMAP_TYPE_PCF )
		float interleavedGradientNoise( vec2 position ) {
			return fract( 52.9829189 * fract( dot( position, vec2( 0.06711056, 0.00583715 ) ) ) );
		}
		vec2 vogelDiskSample( int sampleIndex, int samplesCount, float phi ) {
			const float goldenAngle = 2.399963229728653;
			float r = sqrt( ( float( sampleIndex ) + 0.5 ) / float( samplesCount ) );
			float theta = float( sampleIndex ) * goldenAngle + phi;
			return vec2( cos( theta ), sin( theta ) ) * r;
		}
	#endif
	#if defined( SHADOWMAP_TYPE_PCF )
		float getShadow( sampler2DShadow shadowMap, vec2 shadowMapSize, float shadowIntensity, float shadowBias, float shadowRadius, vec4 shadowCoord ) {
			float shadow = 1.0;
			shadowCoord.xyz /= shadowCoord.w;
			#ifdef USE_REVERSED_DEPTH_BUFFER
				shadowCoord.z -= shadowBias;
			#else
				shadowCoord.z += shadowBias;
			#endif
			bool inFrustum = shadowCoord.x >= 0.0 && shadowCoord.x <= 1.0 && shadowCoord.y >= 0.0 && shadowCoord.y <= 1.0;
			bool frustumTest = inFrustum && shadowCoord.z <= 1.0;
			if ( frustumTest ) {
				vec2 texelSize = vec2( 1.0 ) / shadowMapSize;
				vec2 radius = shadowRadius * texelSize;
				float phi = interleavedGradientNoise( gl_FragCoord.xy ) * PI2;
				shadow = (
					texture( shadowMap, vec3( shadowCoord.xy + vogelDiskSample( 0, 5, phi ) * radius, shadowCoord.z ) ) +
					texture( shadowMap, vec3( shadowCoord.xy + vogelDiskSample( 1, 5, phi ) * radius, shadowCoord.z ) ) +
					texture( shadowMap, vec3( shadowCoord.xy + vogelDiskSample( 2, 5, phi ) * radius, shadowCoord.z ) ) +
					texture( shadowMap, vec3( shadowCoord.xy + vogelDiskSample( 3, 5, phi ) * radius, shadowCoord.z ) ) +
					texture( shadowMap, vec3( shadowCoord.xy + vogelDiskSample( 4, 5, phi ) * radius, shadowCoord.z ) )
				) * 0.2;
			}
			return mix( 1.0, shadow, shadowIntensity );
		}
	#elif defined( SHADOWMAP_TYPE_VSM )
		float getShadow( sampler2D shadowMap, vec2 shadowMapSize, float shadowIntensity, float shadowBias, float shadowRadius, vec4 shadowCoord ) {
			float shadow = 1.0;
			shadowCoord.xyz /= shadowCoord.w;
			#ifdef USE_REVERSED_DEPTH_BUFFER
				shadowCoord.z -= shadowBias;
			#else
				shadowCoord.z += shadowBias;
			#endif
			bool inFrustum = shadowCoord.x >= 0.0 && shadowCoord.x <= 1.0 && shadowCoord.y >= 0.0 && shadowCoord.y <= 1.0;
			bool frustumTest = inFrustum && shadowCoord.z <= 1.0;
			if ( frustumTest ) {
				vec2 distribution = texture2D( shadowMap, shadowCoord.xy ).rg;
				float mean = distribution.x;
				float variance = distribution.y * distribution.y;
				#ifdef USE_REVERSED_DEPTH_BUFFER
					float hard_shadow = step( mean, shadowCoord.z );
				#else
					float hard_shadow = step( shadowCoord.z, mean );
				#endif
				
				if ( hard_shadow == 1.0 ) {
					shadow = 1.0;
				} else {
					variance = max( variance, 0.0000001 );
					float d = shadowCoord.z - mean;
					float p_max = variance / ( variance + d * d );
					p_max = clamp( ( p_max - 0.3 ) / 0.65, 0.0, 1.0 );
					shadow = max( hard_shadow, p_max );
				}
			}
			return mix( 1.0, shadow, shadowIntensity );
		}
	#else
		float getShadow( sampler2D shadowMap, vec2 shadowMapSize, float shadowIntensity, float shadowBias, float shadowRadius, vec4 shadowCoord ) {
			float shadow = 1.0;
			shadowCoord.xyz /= shadowCoord.w;
			#ifdef USE_REVERSED_DEPTH_BUFFER
				shadowCoord.z -= shadowBias;
			#else
				shadowCoord.z += shadowBias;
			#endif
			bool inFrustum = shadowCoord.x >= 0.0 && shadowCoord.x <= 1.0 && shadowCoord.y >= 0.0 && shadowCoord.y <= 1.0;
			bool frustumTest = inFrustum && shadowCoord.z <= 1.0;
			if ( frustumTest ) {
				float depth = texture2D( shadowMap, shadowCoord.xy ).r;
				#ifdef USE_REVERSED_DEPTH_BUFFER
					shadow = step( depth, shadowCoord.z );
				#else
					shadow = step( shadowCoord.z, depth );
				#endif
			}
			return mix( 1.0, shadow, shadowIntensity );
		}
	#endif
	#if NUM_SUN_LIGHT_SHADOWS > 0
		float getSunShadow(
			#if defined( SHADOWMAP_TYPE_PCF )
				sampler2DShadow shadowMap,
			#else
				sampler2D shadowMap,
			#endif
			SunLightShadow sunLightShadow,
			int shadowIndex
		) {
			vec4 shadowWorldPosition = vec4( vSunShadowWorldPosition.xyz + vSunShadowWorldNormal * sunLightShadow.shadowNormalBias, 1.0 );
			float viewDepth = vSunShadowWorldPosition.w;
			int cascadeOffset = shadowIndex * SUN_LIGHT_CASCADES;
			float shadow = 1.0;
			for ( int i = SUN_LIGHT_CASCADES - 1; i >= 0; i -- ) {
				vec4 cascade = sunShadowCascade[ cascadeOffset + i ];
				if ( viewDepth >= cascade.x && viewDepth < cascade.y ) {
					float cascadeShadow = getShadow(
						shadowMap,
						sunLightShadow.shadowMapSize,
						sunLightShadow.shadowIntensity,
						sunLightShadow.shadowBias,
						sunLightShadow.shadowRadius,
						sunShadowMatrix[ cascadeOffset + i ] * shadowWorldPosition
					);
					shadow = mix( cascadeShadow, shadow, smoothstep( cascade.z, cascade.y, viewDepth ) );
				}
			}
			return shadow;
		}
	#endif
	#if NUM_POINT_LIGHT_SHADOWS > 0
	#if defined( SHADOWMAP_TYPE_PCF )
	float getPointShadow( samplerCubeShadow shadowMap, vec2 shadowMapSize, float shadowIntensity, float shadowBias, float shadowRadius, vec4 shadowCoord, float shadowCameraNear, float shadowCameraFar ) {
		float shadow = 1.0;
		vec3 lightToPosition = shadowCoord.xyz;
		vec3 bd3D = normalize( lightToPosition );
		vec3 absVec = abs( lightToPosition );
		float viewSpaceZ = max( max( absVec.x, absVec.y ), absVec.z );
		if ( viewSpaceZ - shadowCameraFar <= 0.0 && viewSpaceZ - shadowCameraNear >= 0.0 ) {
			float lightDistance = length( lightToPosition );
			float depthRange = shadowCameraFar - shadowCameraNear;
			#ifdef USE_REVERSED_DEPTH_BUFFER
				float depthA = - shadowCameraNear / depthRange - shadowBias;
				float depthB = shadowCameraNear * shadowCameraFar / ( depthRange * lightDistance );
			#else
				float depthA = shadowCameraFar / depthRange + shadowBias;
				float depthB = - shadowCameraNear * shadowCameraFar / ( depthRange * lightDistance );
			#endif
			float texelSize = shadowRadius / shadowMapSize.x;
			vec3 absDir = abs( bd3D );
			vec3 tangent = absDir.x > absDir.z ? vec3( 0.0, 1.0, 0.0 ) : vec3( 1.0, 0.0, 0.0 );
			tangent = normalize( cross( bd3D, tangent ) );
			vec3 bitangent = cross( bd3D, tangent );
			float phi = interleavedGradientNoise( gl_FragCoord.xy ) * PI2;
			shadow = 0.0;
			for ( int i = 0; i < 5; i ++ ) {
				vec2 offset = vogelDiskSample( i, 5, phi );
				vec3 direction = bd3D + ( tangent * offset.x + bitangent * offset.y ) * texelSize;
				vec3 absDirection = abs( direction );
				float dp = depthA + depthB / max( max( absDirection.x, absDirection.y ), absDirection.z );
				shadow += texture( shadowMap, vec4( direction, dp ) );
			}
			shadow *= 0.2;
		}
		return mix( 1.0, shadow, shadowIntensity );
	}
	#elif defined( SHADOWMAP_TYPE_BASIC )
	float getPointShadow( samplerCube shadowMap, vec2 shadowMapSize, float shadowIntensity, float shadowBias, float shadowRadius, vec4 shadowCoord, float shadowCameraNear, float shadowCameraFar ) {
		float shadow = 1.0;
		vec3 lightToPosition = shadowCoord.xyz;
		vec3 absVec = abs( lightToPosition );
		float viewSpaceZ = max( max( absVec.x, absVec.y ), absVec.z );
		if ( viewSpaceZ - shadowCameraFar <= 0.0 && viewSpaceZ - shadowCameraNear >= 0.0 ) {
			float dp = ( shadowCameraFar * ( viewSpaceZ - shadowCameraNear ) ) / ( viewSpaceZ * ( shadowCameraFar - shadowCameraNear ) );
			dp += shadowBias;
			vec3 bd3D = normalize( lightToPosition );
			float depth = textureCube( shadowMap, bd3D ).r;
			#ifdef USE_REVERSED_DEPTH_BUFFER
				depth = 1.0 - depth;
			#endif
			shadow = step( dp, depth );
		}
		return mix( 1.0, shadow, shadowIntensity );
	}
	#endif
	#endif
#endif`,hM=`#if NUM_SPOT_LIGHT_COORDS > 0
	uniform mat4 spotLightMatrix[ NUM_SPOT_LIGHT_COORDS ];
	varying vec4 vSpotLightCoord[ NUM_SPOT_LIGHT_COORDS ];
#endif
#ifdef USE_SHADOWMAP
	#if NUM_SUN_LIGHT_SHADOWS > 0
		varying vec4 vSunShadowWorldPosition;
		varying vec3 vSunShadowWorldNormal;
	#endif
	#if NUM_DIR_LIGHT_SHADOWS > 0
		uniform mat4 directionalShadowMatrix[ NUM_DIR_LIGHT_SHADOWS ];
		varying vec4 vDirectionalShadowCoord[ NUM_DIR_LIGHT_SHADOWS ];
		struct DirectionalLightShadow {
			float shadowIntensity;
			float shadowBias;
			float shadowNormalBias;
			float shadowRadius;
			vec2 shadowMapSize;
		};
		uniform DirectionalLightShadow directionalLightShadows[ NUM_DIR_LIGHT_SHADOWS ];
	#endif
	#if NUM_SPOT_LIGHT_SHADOWS > 0
		struct SpotLightShadow {
			float shadowIntensity;
			float shadowBias;
			float shadowNormalBias;
			float shadowRadius;
			vec2 shadowMapSize;
		};
		uniform SpotLightShadow spotLightShadows[ NUM_SPOT_LIGHT_SHADOWS ];
	#endif
	#if NUM_POINT_LIGHT_SHADOWS > 0
		uniform mat4 pointShadowMatrix[ NUM_POINT_LIGHT_SHADOWS ];
		varying vec4 vPointShadowCoord[ NUM_POINT_LIGHT_SHADOWS ];
		struct PointLightShadow {
			float shadowIntensity;
			float shadowBias;
			float shadowNormalBias;
			float shadowRadius;
			vec2 shadowMapSize;
			float shadowCameraNear;
			float shadowCameraFar;
		};
		uniform PointLightShadow pointLightShadows[ NUM_POINT_LIGHT_SHADOWS ];
	#endif
#endif`,uM=`#if ( defined( USE_SHADOWMAP ) && ( NUM_DIR_LIGHT_SHADOWS > 0 || NUM_SUN_LIGHT_SHADOWS > 0 || NUM_POINT_LIGHT_SHADOWS > 0 ) ) || ( NUM_SPOT_LIGHT_COORDS > 0 )
	#ifdef HAS_NORMAL
		vec3 shadowWorldNormal = transformNormalByInverseViewMatrix( transformedNormal, viewMatrix );
	#else
		vec3 shadowWorldNormal = vec3( 0.0 );
	#endif
	vec4 shadowWorldPosition;
#endif
#if defined( USE_SHADOWMAP )
	#if NUM_SUN_LIGHT_SHADOWS > 0
		vSunShadowWorldPosition = vec4( worldPosition.xyz, - mvPosition.z );
		vSunShadowWorldNormal = shadowWorldNormal;
	#endif
	#if NUM_DIR_LIGHT_SHADOWS > 0
		#pragma unroll_loop_start
		for ( int i = 0; i < NUM_DIR_LIGHT_SHADOWS; i ++ ) {
			shadowWorldPosition = worldPosition + vec4( shadowWorldNormal * directionalLightShadows[ i ].shadowNormalBias, 0 );
			vDirectionalShadowCoord[ i ] = directionalShadowMatrix[ i ] * shadowWorldPosition;
		}
		#pragma unroll_loop_end
	#endif
	#if NUM_POINT_LIGHT_SHADOWS > 0
		#pragma unroll_loop_start
		for ( int i = 0; i < NUM_POINT_LIGHT_SHADOWS; i ++ ) {
			shadowWorldPosition = worldPosition + vec4( shadowWorldNormal * pointLightShadows[ i ].shadowNormalBias, 0 );
			vPointShadowCoord[ i ] = pointShadowMatrix[ i ] * shadowWorldPosition;
		}
		#pragma unroll_loop_end
	#endif
#endif
#if NUM_SPOT_LIGHT_COORDS > 0
	#pragma unroll_loop_start
	for ( int i = 0; i < NUM_SPOT_LIGHT_COORDS; i ++ ) {
		shadowWorldPosition = worldPosition;
		#if ( defined( USE_SHADOWMAP ) && UNROLLED_LOOP_INDEX < NUM_SPOT_LIGHT_SHADOWS )
			shadowWorldPosition.xyz += shadowWorldNormal * spotLightShadows[ i ].shadowNormalBias;
		#endif
		vSpotLightCoord[ i ] = spotLightMatrix[ i ] * shadowWorldPosition;
	}
	#pragma unroll_loop_end
#endif`,dM=`float getShadowMask() {
	float shadow = 1.0;
	#ifdef USE_SHADOWMAP
	#if NUM_SUN_LIGHT_SHADOWS > 0
	SunLightShadow sunLight;
	#pragma unroll_loop_start
	for ( int i = 0; i < NUM_SUN_LIGHT_SHADOWS; i ++ ) {
		sunLight = sunLightShadows[ i ];
		shadow *= receiveShadow ? getSunShadow( sunShadowMap[ i ], sunLight, UNROLLED_LOOP_INDEX ) : 1.0;
	}
	#pragma unroll_loop_end
	#endif
	#if NUM_DIR_LIGHT_SHADOWS > 0
	DirectionalLightShadow directionalLight;
	#pragma unroll_loop_start
	for ( int i = 0; i < NUM_DIR_LIGHT_SHADOWS; i ++ ) {
		directionalLight = directionalLightShadows[ i ];
		shadow *= receiveShadow ? getShadow( directionalShadowMap[ i ], directionalLight.shadowMapSize, directionalLight.shadowIntensity, directionalLight.shadowBias, directionalLight.shadowRadius, vDirectionalShadowCoord[ i ] ) : 1.0;
	}
	#pragma unroll_loop_end
	#endif
	#if NUM_SPOT_LIGHT_SHADOWS > 0
	SpotLightShadow spotLight;
	#pragma unroll_loop_start
	for ( int i = 0; i < NUM_SPOT_LIGHT_SHADOWS; i ++ ) {
		spotLight = spotLightShadows[ i ];
		shadow *= receiveShadow ? getShadow( spotShadowMap[ i ], spotLight.shadowMapSize, spotLight.shadowIntensity, spotLight.shadowBias, spotLight.shadowRadius, vSpotLightCoord[ i ] ) : 1.0;
	}
	#pragma unroll_loop_end
	#endif
	#if NUM_POINT_LIGHT_SHADOWS > 0 && ( defined( SHADOWMAP_TYPE_PCF ) || defined( SHADOWMAP_TYPE_BASIC ) )
	PointLightShadow pointLight;
	#pragma unroll_loop_start
	for ( int i = 0; i < NUM_POINT_LIGHT_SHADOWS; i ++ ) {
		pointLight = pointLightShadows[ i ];
		shadow *= receiveShadow ? getPointShadow( pointShadowMap[ i ], pointLight.shadowMapSize, pointLight.shadowIntensity, pointLight.shadowBias, pointLight.shadowRadius, vPointShadowCoord[ i ], pointLight.shadowCameraNear, pointLight.shadowCameraFar ) : 1.0;
	}
	#pragma unroll_loop_end
	#endif
	#endif
	return shadow;
}`,fM=`#ifdef USE_SKINNING
	mat4 boneMatX = getBoneMatrix( skinIndex.x );
	mat4 boneMatY = getBoneMatrix( skinIndex.y );
	mat4 boneMatZ = getBoneMatrix( skinIndex.z );
	mat4 boneMatW = getBoneMatrix( skinIndex.w );
#endif`,pM=`#ifdef USE_SKINNING
	uniform mat4 bindMatrix;
	uniform mat4 bindMatrixInverse;
	uniform highp sampler2D boneTexture;
	mat4 getBoneMatrix( const in float i ) {
		int size = textureSize( boneTexture, 0 ).x;
		int j = int( i ) * 4;
		int x = j % size;
		int y = j / size;
		vec4 v1 = texelFetch( boneTexture, ivec2( x, y ), 0 );
		vec4 v2 = texelFetch( boneTexture, ivec2( x + 1, y ), 0 );
		vec4 v3 = texelFetch( boneTexture, ivec2( x + 2, y ), 0 );
		vec4 v4 = texelFetch( boneTexture, ivec2( x + 3, y ), 0 );
		return mat4( v1, v2, v3, v4 );
	}
#endif`,mM=`#ifdef USE_SKINNING
	vec4 skinVertex = bindMatrix * vec4( transformed, 1.0 );
	vec4 skinned = vec4( 0.0 );
	skinned += boneMatX * skinVertex * skinWeight.x;
	skinned += boneMatY * skinVertex * skinWeight.y;
	skinned += boneMatZ * skinVertex * skinWeight.z;
	skinned += boneMatW * skinVertex * skinWeight.w;
	transformed = ( bindMatrixInverse * skinned ).xyz;
#endif`,gM=`#ifdef USE_SKINNING
	mat4 skinMatrix = mat4( 0.0 );
	skinMatrix += skinWeight.x * boneMatX;
	skinMatrix += skinWeight.y * boneMatY;
	skinMatrix += skinWeight.z * boneMatZ;
	skinMatrix += skinWeight.w * boneMatW;
	skinMatrix = bindMatrixInverse * skinMatrix * bindMatrix;
	objectNormal = vec4( skinMatrix * vec4( objectNormal, 0.0 ) ).xyz;
	#ifdef USE_TANGENT
		objectTangent = vec4( skinMatrix * vec4( objectTangent, 0.0 ) ).xyz;
	#endif
#endif`,_M=`float specularStrength;
#ifdef USE_SPECULARMAP
	vec4 texelSpecular = texture2D( specularMap, vSpecularMapUv );
	specularStrength = texelSpecular.r;
#else
	specularStrength = 1.0;
#endif`,xM=`#ifdef USE_SPECULARMAP
	uniform sampler2D specularMap;
#endif`,vM=`#if defined( TONE_MAPPING )
	gl_FragColor.rgb = toneMapping( gl_FragColor.rgb );
#endif`,yM=`#ifndef saturate
#define saturate( a ) clamp( a, 0.0, 1.0 )
#endif
uniform float toneMappingExposure;
vec3 LinearToneMapping( vec3 color ) {
	return saturate( toneMappingExposure * color );
}
vec3 ReinhardToneMapping( vec3 color ) {
	color *= toneMappingExposure;
	return saturate( color / ( vec3( 1.0 ) + color ) );
}
vec3 CineonToneMapping( vec3 color ) {
	color *= toneMappingExposure;
	color = max( vec3( 0.0 ), color - 0.004 );
	return pow( ( color * ( 6.2 * color + 0.5 ) ) / ( color * ( 6.2 * color + 1.7 ) + 0.06 ), vec3( 2.2 ) );
}
vec3 RRTAndODTFit( vec3 v ) {
	vec3 a = v * ( v + 0.0245786 ) - 0.000090537;
	vec3 b = v * ( 0.983729 * v + 0.4329510 ) + 0.238081;
	return a / b;
}
vec3 ACESFilmicToneMapping( vec3 color ) {
	const mat3 ACESInputMat = mat3(
		vec3( 0.59719, 0.07600, 0.02840 ),		vec3( 0.35458, 0.90834, 0.13383 ),
		vec3( 0.04823, 0.01566, 0.83777 )
	);
	const mat3 ACESOutputMat = mat3(
		vec3(  1.60475, -0.10208, -0.00327 ),		vec3( -0.53108,  1.10813, -0.07276 ),
		vec3( -0.07367, -0.00605,  1.07602 )
	);
	color *= toneMappingExposure / 0.6;
	color = ACESInputMat * color;
	color = RRTAndODTFit( color );
	color = ACESOutputMat * color;
	return saturate( color );
}
const mat3 LINEAR_REC2020_TO_LINEAR_SRGB = mat3(
	vec3( 1.6605, - 0.1246, - 0.0182 ),
	vec3( - 0.5876, 1.1329, - 0.1006 ),
	vec3( - 0.0728, - 0.0083, 1.1187 )
);
const mat3 LINEAR_SRGB_TO_LINEAR_REC2020 = mat3(
	vec3( 0.6274, 0.0691, 0.0164 ),
	vec3( 0.3293, 0.9195, 0.0880 ),
	vec3( 0.0433, 0.0113, 0.8956 )
);
vec3 agxDefaultContrastApprox( vec3 x ) {
	vec3 x2 = x * x;
	vec3 x4 = x2 * x2;
	return + 15.5 * x4 * x2
		- 40.14 * x4 * x
		+ 31.96 * x4
		- 6.868 * x2 * x
		+ 0.4298 * x2
		+ 0.1191 * x
		- 0.00232;
}
vec3 AgXToneMapping( vec3 color ) {
	const mat3 AgXInsetMatrix = mat3(
		vec3( 0.856627153315983, 0.137318972929847, 0.11189821299995 ),
		vec3( 0.0951212405381588, 0.761241990602591, 0.0767994186031903 ),
		vec3( 0.0482516061458583, 0.101439036467562, 0.811302368396859 )
	);
	const mat3 AgXOutsetMatrix = mat3(
		vec3( 1.1271005818144368, - 0.1413297634984383, - 0.14132976349843826 ),
		vec3( - 0.11060664309660323, 1.157823702216272, - 0.11060664309660294 ),
		vec3( - 0.016493938717834573, - 0.016493938717834257, 1.2519364065950405 )
	);
	const float AgxMinEv = - 12.47393;	const float AgxMaxEv = 4.026069;
	color *= toneMappingExposure;
	color = LINEAR_SRGB_TO_LINEAR_REC2020 * color;
	color = AgXInsetMatrix * color;
	color = max( color, 1e-10 );	color = log2( color );
	color = ( color - AgxMinEv ) / ( AgxMaxEv - AgxMinEv );
	color = clamp( color, 0.0, 1.0 );
	color = agxDefaultContrastApprox( color );
	color = AgXOutsetMatrix * color;
	color = pow( max( vec3( 0.0 ), color ), vec3( 2.2 ) );
	color = LINEAR_REC2020_TO_LINEAR_SRGB * color;
	color = clamp( color, 0.0, 1.0 );
	return color;
}
vec3 NeutralToneMapping( vec3 color ) {
	const float StartCompression = 0.8 - 0.04;
	const float Desaturation = 0.15;
	color *= toneMappingExposure;
	float x = min( color.r, min( color.g, color.b ) );
	float offset = x < 0.08 ? x - 6.25 * x * x : 0.04;
	color -= offset;
	float peak = max( color.r, max( color.g, color.b ) );
	if ( peak < StartCompression ) return color;
	float d = 1. - StartCompression;
	float newPeak = 1. - d * d / ( peak + d - StartCompression );
	color *= newPeak / peak;
	float g = 1. - 1. / ( Desaturation * ( peak - newPeak ) + 1. );
	return mix( color, vec3( newPeak ), g );
}
vec3 CustomToneMapping( vec3 color ) { return color; }`,SM=`#ifdef USE_TRANSMISSION
	material.transmission = transmission;
	material.transmissionAlpha = 1.0;
	material.thickness = thickness;
	material.attenuationDistance = attenuationDistance;
	material.attenuationColor = attenuationColor;
	#ifdef USE_TRANSMISSIONMAP
		material.transmission *= texture2D( transmissionMap, vTransmissionMapUv ).r;
	#endif
	#ifdef USE_THICKNESSMAP
		material.thickness *= texture2D( thicknessMap, vThicknessMapUv ).g;
	#endif
	vec3 pos = vWorldPosition;
	vec3 v = normalize( cameraPosition - pos );
	vec3 n = transformNormalByInverseViewMatrix( normal, viewMatrix );
	vec4 transmitted = getIBLVolumeRefraction(
		n, v, material.roughness, material.diffuseContribution, material.specularColorBlended, material.specularF90,
		pos, modelMatrix, viewMatrix, projectionMatrix, material.dispersion, material.ior, material.thickness,
		material.attenuationColor, material.attenuationDistance );
	material.transmissionAlpha = mix( material.transmissionAlpha, transmitted.a, material.transmission );
	totalDiffuse = mix( totalDiffuse, transmitted.rgb, material.transmission );
#endif`,MM=`#ifdef USE_TRANSMISSION
	uniform float transmission;
	uniform float thickness;
	uniform float attenuationDistance;
	uniform vec3 attenuationColor;
	#ifdef USE_TRANSMISSIONMAP
		uniform sampler2D transmissionMap;
	#endif
	#ifdef USE_THICKNESSMAP
		uniform sampler2D thicknessMap;
	#endif
	uniform vec2 transmissionSamplerSize;
	uniform sampler2D transmissionSamplerMap;
	uniform mat4 modelMatrix;
	uniform mat4 projectionMatrix;
	varying vec3 vWorldPosition;
	float w0( float a ) {
		return ( 1.0 / 6.0 ) * ( a * ( a * ( - a + 3.0 ) - 3.0 ) + 1.0 );
	}
	float w1( float a ) {
		return ( 1.0 / 6.0 ) * ( a *  a * ( 3.0 * a - 6.0 ) + 4.0 );
	}
	float w2( float a ){
		return ( 1.0 / 6.0 ) * ( a * ( a * ( - 3.0 * a + 3.0 ) + 3.0 ) + 1.0 );
	}
	float w3( float a ) {
		return ( 1.0 / 6.0 ) * ( a * a * a );
	}
	float g0( float a ) {
		return w0( a ) + w1( a );
	}
	float g1( float a ) {
		return w2( a ) + w3( a );
	}
	float h0( float a ) {
		return - 1.0 + w1( a ) / ( w0( a ) + w1( a ) );
	}
	float h1( float a ) {
		return 1.0 + w3( a ) / ( w2( a ) + w3( a ) );
	}
	vec4 bicubic( sampler2D tex, vec2 uv, vec4 texelSize, float lod ) {
		uv = uv * texelSize.zw + 0.5;
		vec2 iuv = floor( uv );
		vec2 fuv = fract( uv );
		float g0x = g0( fuv.x );
		float g1x = g1( fuv.x );
		float h0x = h0( fuv.x );
		float h1x = h1( fuv.x );
		float h0y = h0( fuv.y );
		float h1y = h1( fuv.y );
		vec2 p0 = ( vec2( iuv.x + h0x, iuv.y + h0y ) - 0.5 ) * texelSize.xy;
		vec2 p1 = ( vec2( iuv.x + h1x, iuv.y + h0y ) - 0.5 ) * texelSize.xy;
		vec2 p2 = ( vec2( iuv.x + h0x, iuv.y + h1y ) - 0.5 ) * texelSize.xy;
		vec2 p3 = ( vec2( iuv.x + h1x, iuv.y + h1y ) - 0.5 ) * texelSize.xy;
		return g0( fuv.y ) * ( g0x * textureLod( tex, p0, lod ) + g1x * textureLod( tex, p1, lod ) ) +
			g1( fuv.y ) * ( g0x * textureLod( tex, p2, lod ) + g1x * textureLod( tex, p3, lod ) );
	}
	vec4 textureBicubic( sampler2D sampler, vec2 uv, float lod ) {
		vec2 fLodSize = vec2( textureSize( sampler, int( lod ) ) );
		vec2 cLodSize = vec2( textureSize( sampler, int( lod + 1.0 ) ) );
		vec2 fLodSizeInv = 1.0 / fLodSize;
		vec2 cLodSizeInv = 1.0 / cLodSize;
		vec4 fSample = bicubic( sampler, uv, vec4( fLodSizeInv, fLodSize ), floor( lod ) );
		vec4 cSample = bicubic( sampler, uv, vec4( cLodSizeInv, cLodSize ), ceil( lod ) );
		return mix( fSample, cSample, fract( lod ) );
	}
	vec3 getVolumeTransmissionRay( const in vec3 n, const in vec3 v, const in float thickness, const in float ior, const in mat4 modelMatrix ) {
		vec3 refractionVector = refract( - v, normalize( n ), 1.0 / ior );
		vec3 modelScale;
		modelScale.x = length( vec3( modelMatrix[ 0 ].xyz ) );
		modelScale.y = length( vec3( modelMatrix[ 1 ].xyz ) );
		modelScale.z = length( vec3( modelMatrix[ 2 ].xyz ) );
		return normalize( refractionVector ) * thickness * modelScale;
	}
	float applyIorToRoughness( const in float roughness, const in float ior ) {
		return roughness * clamp( ior * 2.0 - 2.0, 0.0, 1.0 );
	}
	vec4 getTransmissionSample( const in vec2 fragCoord, const in float roughness, const in float ior ) {
		float lod = log2( transmissionSamplerSize.x ) * applyIorToRoughness( roughness, ior );
		return textureBicubic( transmissionSamplerMap, fragCoord.xy, lod );
	}
	vec3 volumeAttenuation( const in float transmissionDistance, const in vec3 attenuationColor, const in float attenuationDistance ) {
		if ( isinf( attenuationDistance ) ) {
			return vec3( 1.0 );
		} else {
			vec3 attenuationCoefficient = -log( attenuationColor ) / attenuationDistance;
			vec3 transmittance = exp( - attenuationCoefficient * transmissionDistance );			return transmittance;
		}
	}
	vec4 getIBLVolumeRefraction( const in vec3 n, const in vec3 v, const in float roughness, const in vec3 diffuseColor,
		const in vec3 specularColor, const in float specularF90, const in vec3 position, const in mat4 modelMatrix,
		const in mat4 viewMatrix, const in mat4 projMatrix, const in float dispersion, const in float ior, const in float thickness,
		const in vec3 attenuationColor, const in float attenuationDistance ) {
		vec4 transmittedLight;
		vec3 transmittance;
		#ifdef USE_DISPERSION
			float halfSpread = ( ior - 1.0 ) * 0.025 * dispersion;
			vec3 iors = vec3( ior - halfSpread, ior, ior + halfSpread );
			for ( int i = 0; i < 3; i ++ ) {
				vec3 transmissionRay = getVolumeTransmissionRay( n, v, thickness, iors[ i ], modelMatrix );
				vec3 refractedRayExit = position + transmissionRay;
				vec4 ndcPos = projMatrix * viewMatrix * vec4( refractedRayExit, 1.0 );
				vec2 refractionCoords = ndcPos.xy / ndcPos.w;
				refractionCoords += 1.0;
				refractionCoords /= 2.0;
				vec4 transmissionSample = getTransmissionSample( refractionCoords, roughness, iors[ i ] );
				transmittedLight[ i ] = transmissionSample[ i ];
				transmittedLight.a += transmissionSample.a;
				transmittance[ i ] = diffuseColor[ i ] * volumeAttenuation( length( transmissionRay ), attenuationColor, attenuationDistance )[ i ];
			}
			transmittedLight.a /= 3.0;
		#else
			vec3 transmissionRay = getVolumeTransmissionRay( n, v, thickness, ior, modelMatrix );
			vec3 refractedRayExit = position + transmissionRay;
			vec4 ndcPos = projMatrix * viewMatrix * vec4( refractedRayExit, 1.0 );
			vec2 refractionCoords = ndcPos.xy / ndcPos.w;
			refractionCoords += 1.0;
			refractionCoords /= 2.0;
			transmittedLight = getTransmissionSample( refractionCoords, roughness, ior );
			transmittance = diffuseColor * volumeAttenuation( length( transmissionRay ), attenuationColor, attenuationDistance );
		#endif
		vec3 attenuatedColor = transmittance * transmittedLight.rgb;
		vec3 F = EnvironmentBRDF( n, v, specularColor, specularF90, roughness );
		float transmittanceFactor = ( transmittance.r + transmittance.g + transmittance.b ) / 3.0;
		return vec4( ( 1.0 - F ) * attenuatedColor, 1.0 - ( 1.0 - transmittedLight.a ) * transmittanceFactor );
	}
#endif`,bM=`#if defined( USE_UV ) || defined( USE_ANISOTROPY )
	varying vec2 vUv;
#endif
#ifdef USE_MAP
	varying vec2 vMapUv;
#endif
#ifdef USE_ALPHAMAP
	varying vec2 vAlphaMapUv;
#endif
#ifdef USE_LIGHTMAP
	varying vec2 vLightMapUv;
#endif
#ifdef USE_AOMAP
	varying vec2 vAoMapUv;
#endif
#ifdef USE_BUMPMAP
	varying vec2 vBumpMapUv;
#endif
#ifdef USE_NORMALMAP
	varying vec2 vNormalMapUv;
#endif
#ifdef USE_EMISSIVEMAP
	varying vec2 vEmissiveMapUv;
#endif
#ifdef USE_METALNESSMAP
	varying vec2 vMetalnessMapUv;
#endif
#ifdef USE_ROUGHNESSMAP
	varying vec2 vRoughnessMapUv;
#endif
#ifdef USE_DIFFUSE_ROUGHNESSMAP
	varying vec2 vDiffuseRoughnessMapUv;
#endif
#ifdef USE_ANISOTROPYMAP
	varying vec2 vAnisotropyMapUv;
#endif
#ifdef USE_CLEARCOATMAP
	varying vec2 vClearcoatMapUv;
#endif
#ifdef USE_CLEARCOAT_NORMALMAP
	varying vec2 vClearcoatNormalMapUv;
#endif
#ifdef USE_CLEARCOAT_ROUGHNESSMAP
	varying vec2 vClearcoatRoughnessMapUv;
#endif
#ifdef USE_IRIDESCENCEMAP
	varying vec2 vIridescenceMapUv;
#endif
#ifdef USE_IRIDESCENCE_THICKNESSMAP
	varying vec2 vIridescenceThicknessMapUv;
#endif
#ifdef USE_SHEEN_COLORMAP
	varying vec2 vSheenColorMapUv;
#endif
#ifdef USE_SHEEN_ROUGHNESSMAP
	varying vec2 vSheenRoughnessMapUv;
#endif
#ifdef USE_SPECULARMAP
	varying vec2 vSpecularMapUv;
#endif
#ifdef USE_SPECULAR_COLORMAP
	varying vec2 vSpecularColorMapUv;
#endif
#ifdef USE_SPECULAR_INTENSITYMAP
	varying vec2 vSpecularIntensityMapUv;
#endif
#ifdef USE_TRANSMISSIONMAP
	uniform mat3 transmissionMapTransform;
	varying vec2 vTransmissionMapUv;
#endif
#ifdef USE_THICKNESSMAP
	uniform mat3 thicknessMapTransform;
	varying vec2 vThicknessMapUv;
#endif`,wM=`#if defined( USE_UV ) || defined( USE_ANISOTROPY )
	varying vec2 vUv;
#endif
#ifdef USE_MAP
	uniform mat3 mapTransform;
	varying vec2 vMapUv;
#endif
#ifdef USE_ALPHAMAP
	uniform mat3 alphaMapTransform;
	varying vec2 vAlphaMapUv;
#endif
#ifdef USE_LIGHTMAP
	uniform mat3 lightMapTransform;
	varying vec2 vLightMapUv;
#endif
#ifdef USE_AOMAP
	uniform mat3 aoMapTransform;
	varying vec2 vAoMapUv;
#endif
#ifdef USE_BUMPMAP
	uniform mat3 bumpMapTransform;
	varying vec2 vBumpMapUv;
#endif
#ifdef USE_NORMALMAP
	uniform mat3 normalMapTransform;
	varying vec2 vNormalMapUv;
#endif
#ifdef USE_DISPLACEMENTMAP
	uniform mat3 displacementMapTransform;
	varying vec2 vDisplacementMapUv;
#endif
#ifdef USE_EMISSIVEMAP
	uniform mat3 emissiveMapTransform;
	varying vec2 vEmissiveMapUv;
#endif
#ifdef USE_METALNESSMAP
	uniform mat3 metalnessMapTransform;
	varying vec2 vMetalnessMapUv;
#endif
#ifdef USE_ROUGHNESSMAP
	uniform mat3 roughnessMapTransform;
	varying vec2 vRoughnessMapUv;
#endif
#ifdef USE_DIFFUSE_ROUGHNESSMAP
	uniform mat3 diffuseRoughnessMapTransform;
	varying vec2 vDiffuseRoughnessMapUv;
#endif
#ifdef USE_ANISOTROPYMAP
	uniform mat3 anisotropyMapTransform;
	varying vec2 vAnisotropyMapUv;
#endif
#ifdef USE_CLEARCOATMAP
	uniform mat3 clearcoatMapTransform;
	varying vec2 vClearcoatMapUv;
#endif
#ifdef USE_CLEARCOAT_NORMALMAP
	uniform mat3 clearcoatNormalMapTransform;
	varying vec2 vClearcoatNormalMapUv;
#endif
#ifdef USE_CLEARCOAT_ROUGHNESSMAP
	uniform mat3 clearcoatRoughnessMapTransform;
	varying vec2 vClearcoatRoughnessMapUv;
#endif
#ifdef USE_SHEEN_COLORMAP
	uniform mat3 sheenColorMapTransform;
	varying vec2 vSheenColorMapUv;
#endif
#ifdef USE_SHEEN_ROUGHNESSMAP
	uniform mat3 sheenRoughnessMapTransform;
	varying vec2 vSheenRoughnessMapUv;
#endif
#ifdef USE_IRIDESCENCEMAP
	uniform mat3 iridescenceMapTransform;
	varying vec2 vIridescenceMapUv;
#endif
#ifdef USE_IRIDESCENCE_THICKNESSMAP
	uniform mat3 iridescenceThicknessMapTransform;
	varying vec2 vIridescenceThicknessMapUv;
#endif
#ifdef USE_SPECULARMAP
	uniform mat3 specularMapTransform;
	varying vec2 vSpecularMapUv;
#endif
#ifdef USE_SPECULAR_COLORMAP
	uniform mat3 specularColorMapTransform;
	varying vec2 vSpecularColorMapUv;
#endif
#ifdef USE_SPECULAR_INTENSITYMAP
	uniform mat3 specularIntensityMapTransform;
	varying vec2 vSpecularIntensityMapUv;
#endif
#ifdef USE_TRANSMISSIONMAP
	uniform mat3 transmissionMapTransform;
	varying vec2 vTransmissionMapUv;
#endif
#ifdef USE_THICKNESSMAP
	uniform mat3 thicknessMapTransform;
	varying vec2 vThicknessMapUv;
#endif`,AM=`#if defined( USE_UV ) || defined( USE_ANISOTROPY )
	vUv = vec3( uv, 1 ).xy;
#endif
#ifdef USE_MAP
	vMapUv = ( mapTransform * vec3( MAP_UV, 1 ) ).xy;
#endif
#ifdef USE_ALPHAMAP
	vAlphaMapUv = ( alphaMapTransform * vec3( ALPHAMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_LIGHTMAP
	vLightMapUv = ( lightMapTransform * vec3( LIGHTMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_AOMAP
	vAoMapUv = ( aoMapTransform * vec3( AOMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_BUMPMAP
	vBumpMapUv = ( bumpMapTransform * vec3( BUMPMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_NORMALMAP
	vNormalMapUv = ( normalMapTransform * vec3( NORMALMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_DISPLACEMENTMAP
	vDisplacementMapUv = ( displacementMapTransform * vec3( DISPLACEMENTMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_EMISSIVEMAP
	vEmissiveMapUv = ( emissiveMapTransform * vec3( EMISSIVEMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_METALNESSMAP
	vMetalnessMapUv = ( metalnessMapTransform * vec3( METALNESSMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_ROUGHNESSMAP
	vRoughnessMapUv = ( roughnessMapTransform * vec3( ROUGHNESSMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_DIFFUSE_ROUGHNESSMAP
	vDiffuseRoughnessMapUv = ( diffuseRoughnessMapTransform * vec3( DIFFUSE_ROUGHNESSMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_ANISOTROPYMAP
	vAnisotropyMapUv = ( anisotropyMapTransform * vec3( ANISOTROPYMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_CLEARCOATMAP
	vClearcoatMapUv = ( clearcoatMapTransform * vec3( CLEARCOATMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_CLEARCOAT_NORMALMAP
	vClearcoatNormalMapUv = ( clearcoatNormalMapTransform * vec3( CLEARCOAT_NORMALMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_CLEARCOAT_ROUGHNESSMAP
	vClearcoatRoughnessMapUv = ( clearcoatRoughnessMapTransform * vec3( CLEARCOAT_ROUGHNESSMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_IRIDESCENCEMAP
	vIridescenceMapUv = ( iridescenceMapTransform * vec3( IRIDESCENCEMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_IRIDESCENCE_THICKNESSMAP
	vIridescenceThicknessMapUv = ( iridescenceThicknessMapTransform * vec3( IRIDESCENCE_THICKNESSMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_SHEEN_COLORMAP
	vSheenColorMapUv = ( sheenColorMapTransform * vec3( SHEEN_COLORMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_SHEEN_ROUGHNESSMAP
	vSheenRoughnessMapUv = ( sheenRoughnessMapTransform * vec3( SHEEN_ROUGHNESSMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_SPECULARMAP
	vSpecularMapUv = ( specularMapTransform * vec3( SPECULARMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_SPECULAR_COLORMAP
	vSpecularColorMapUv = ( specularColorMapTransform * vec3( SPECULAR_COLORMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_SPECULAR_INTENSITYMAP
	vSpecularIntensityMapUv = ( specularIntensityMapTransform * vec3( SPECULAR_INTENSITYMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_TRANSMISSIONMAP
	vTransmissionMapUv = ( transmissionMapTransform * vec3( TRANSMISSIONMAP_UV, 1 ) ).xy;
#endif
#ifdef USE_THICKNESSMAP
	vThicknessMapUv = ( thicknessMapTransform * vec3( THICKNESSMAP_UV, 1 ) ).xy;
#endif`,EM=`#if defined( USE_ENVMAP ) || defined( DISTANCE ) || defined ( USE_SHADOWMAP ) || defined ( USE_TRANSMISSION ) || NUM_SPOT_LIGHT_COORDS > 0
	vec4 worldPosition = vec4( transformed, 1.0 );
	#ifdef USE_BATCHING
		worldPosition = batchingMatrix * worldPosition;
	#endif
	#ifdef USE_INSTANCING
		worldPosition = instanceMatrix * worldPosition;
	#endif
	worldPosition = modelMatrix * worldPosition;
#endif`,TM=`varying vec2 vUv;
uniform mat3 uvTransform;
void main() {
	vUv = ( uvTransform * vec3( uv, 1 ) ).xy;
	gl_Position = vec4( position.xy, 1.0, 1.0 );
}`,CM=`uniform sampler2D t2D;
uniform float backgroundIntensity;
varying vec2 vUv;
void main() {
	vec4 texColor = texture2D( t2D, vUv );
	#ifdef DECODE_VIDEO_TEXTURE
		texColor = vec4( mix( pow( texColor.rgb * 0.9478672986 + vec3( 0.0521327014 ), vec3( 2.4 ) ), texColor.rgb * 0.0773993808, vec3( lessThanEqual( texColor.rgb, vec3( 0.04045 ) ) ) ), texColor.w );
	#endif
	texColor.rgb *= backgroundIntensity;
	gl_FragColor = texColor;
	#include <tonemapping_fragment>
	#include <colorspace_fragment>
}`,RM=`varying vec3 vWorldDirection;
#include <common>
void main() {
	vWorldDirection = transformDirection( position, modelMatrix );
	#include <begin_vertex>
	#include <project_vertex>
	gl_Position.z = gl_Position.w;
}`,PM=`uniform float backgroundBlurriness;
uniform float backgroundIntensity;
uniform mat3 backgroundRotation;
varying vec3 vWorldDirection;
#include <envmap_common_pars_fragment>
void main() {
	#ifdef ENVMAP_TYPE_PMREM
		vec4 texColor = textureLod( envMap, backgroundRotation * vWorldDirection, roughnessToMip( backgroundBlurriness ) );
	#else
		vec4 texColor = textureCube( envMap, backgroundRotation * vWorldDirection );
	#endif
	texColor.rgb *= backgroundIntensity;
	gl_FragColor = texColor;
	#include <tonemapping_fragment>
	#include <colorspace_fragment>
}`,IM=`varying vec3 vWorldDirection;
#include <common>
void main() {
	vWorldDirection = transformDirection( position, modelMatrix );
	#include <begin_vertex>
	#include <project_vertex>
	gl_Position.z = gl_Position.w;
}`,LM=`uniform samplerCube tCube;
uniform float tFlip;
uniform float opacity;
varying vec3 vWorldDirection;
void main() {
	vec4 texColor = textureCube( tCube, vec3( tFlip * vWorldDirection.x, vWorldDirection.yz ) );
	gl_FragColor = texColor;
	gl_FragColor.a *= opacity;
	#include <tonemapping_fragment>
	#include <colorspace_fragment>
}`,DM=`#include <common>
#include <batching_pars_vertex>
#include <uv_pars_vertex>
#include <displacementmap_pars_vertex>
#include <morphtarget_pars_vertex>
#include <skinning_pars_vertex>
#include <logdepthbuf_pars_vertex>
#include <clipping_planes_pars_vertex>
varying vec2 vHighPrecisionZW;
void main() {
	#include <uv_vertex>
	#include <batching_vertex>
	#include <skinbase_vertex>
	#include <morphinstance_vertex>
	#ifdef USE_DISPLACEMENTMAP
		#include <beginnormal_vertex>
		#include <morphnormal_vertex>
		#include <skinnormal_vertex>
	#endif
	#include <begin_vertex>
	#include <morphtarget_vertex>
	#include <skinning_vertex>
	#include <displacementmap_vertex>
	#include <project_vertex>
	#include <logdepthbuf_vertex>
	#include <clipping_planes_vertex>
	vHighPrecisionZW = gl_Position.zw;
}`,NM=`#if DEPTH_PACKING == 3200
	uniform float opacity;
#endif
#include <common>
#include <packing>
#include <uv_pars_fragment>
#include <map_pars_fragment>
#include <alphamap_pars_fragment>
#include <alphatest_pars_fragment>
#include <alphahash_pars_fragment>
#include <logdepthbuf_pars_fragment>
#include <clipping_planes_pars_fragment>
varying vec2 vHighPrecisionZW;
void main() {
	vec4 diffuseColor = vec4( 1.0 );
	#include <clipping_planes_fragment>
	#if DEPTH_PACKING == 3200
		diffuseColor.a = opacity;
	#endif
	#include <map_fragment>
	#include <alphamap_fragment>
	#include <alphatest_fragment>
	#include <alphahash_fragment>
	#include <logdepthbuf_fragment>
	#ifdef USE_REVERSED_DEPTH_BUFFER
		float fragCoordZ = vHighPrecisionZW[ 0 ] / vHighPrecisionZW[ 1 ];
	#else
		float fragCoordZ = 0.5 * vHighPrecisionZW[ 0 ] / vHighPrecisionZW[ 1 ] + 0.5;
	#endif
	#if DEPTH_PACKING == 3200
		gl_FragColor = vec4( vec3( 1.0 - fragCoordZ ), opacity );
	#elif DEPTH_PACKING == 3201
		gl_FragColor = packDepthToRGBA( fragCoordZ );
	#elif DEPTH_PACKING == 3202
		gl_FragColor = vec4( packDepthToRGB( fragCoordZ ), 1.0 );
	#elif DEPTH_PACKING == 3203
		gl_FragColor = vec4( packDepthToRG( fragCoordZ ), 0.0, 1.0 );
	#endif
}`,UM=`#define DISTANCE
varying vec3 vWorldPosition;
#include <common>
#include <batching_pars_vertex>
#include <uv_pars_vertex>
#include <displacementmap_pars_vertex>
#include <morphtarget_pars_vertex>
#include <skinning_pars_vertex>
#include <clipping_planes_pars_vertex>
void main() {
	#include <uv_vertex>
	#include <batching_vertex>
	#include <skinbase_vertex>
	#include <morphinstance_vertex>
	#ifdef USE_DISPLACEMENTMAP
		#include <beginnormal_vertex>
		#include <morphnormal_vertex>
		#include <skinnormal_vertex>
	#endif
	#include <begin_vertex>
	#include <morphtarget_vertex>
	#include <skinning_vertex>
	#include <displacementmap_vertex>
	#include <project_vertex>
	#include <worldpos_vertex>
	#include <clipping_planes_vertex>
	vWorldPosition = worldPosition.xyz;
}`,FM=`#define DISTANCE
uniform vec3 referencePosition;
uniform float nearDistance;
uniform float farDistance;
varying vec3 vWorldPosition;
#include <common>
#include <uv_pars_fragment>
#include <map_pars_fragment>
#include <alphamap_pars_fragment>
#include <alphatest_pars_fragment>
#include <alphahash_pars_fragment>
#include <clipping_planes_pars_fragment>
void main() {
	vec4 diffuseColor = vec4( 1.0 );
	#include <clipping_planes_fragment>
	#include <map_fragment>
	#include <alphamap_fragment>
	#include <alphatest_fragment>
	#include <alphahash_fragment>
	float dist = length( vWorldPosition - referencePosition );
	dist = ( dist - nearDistance ) / ( farDistance - nearDistance );
	dist = saturate( dist );
	gl_FragColor = vec4( dist, 0.0, 0.0, 1.0 );
}`,OM=`varying vec3 vWorldDirection;
#include <common>
void main() {
	vWorldDirection = transformDirection( position, modelMatrix );
	#include <begin_vertex>
	#include <project_vertex>
}`,BM=`uniform sampler2D tEquirect;
varying vec3 vWorldDirection;
#include <common>
void main() {
	vec3 direction = normalize( vWorldDirection );
	vec2 sampleUV = equirectUv( direction );
	gl_FragColor = texture2D( tEquirect, sampleUV );
	#include <tonemapping_fragment>
	#include <colorspace_fragment>
}`,kM=`uniform float scale;
attribute float lineDistance;
varying float vLineDistance;
#include <common>
#include <uv_pars_vertex>
#include <color_pars_vertex>
#include <fog_pars_vertex>
#include <morphtarget_pars_vertex>
#include <logdepthbuf_pars_vertex>
#include <clipping_planes_pars_vertex>
void main() {
	vLineDistance = scale * lineDistance;
	#include <uv_vertex>
	#include <color_vertex>
	#include <morphinstance_vertex>
	#include <morphcolor_vertex>
	#include <begin_vertex>
	#include <morphtarget_vertex>
	#include <project_vertex>
	#include <logdepthbuf_vertex>
	#include <clipping_planes_vertex>
	#include <fog_vertex>
}`,zM=`uniform vec3 diffuse;
uniform float opacity;
uniform float dashSize;
uniform float totalSize;
varying float vLineDistance;
#include <common>
#include <color_pars_fragment>
#include <uv_pars_fragment>
#include <map_pars_fragment>
#include <fog_pars_fragment>
#include <logdepthbuf_pars_fragment>
#include <clipping_planes_pars_fragment>
void main() {
	vec4 diffuseColor = vec4( diffuse, opacity );
	#include <clipping_planes_fragment>
	if ( mod( vLineDistance, totalSize ) > dashSize ) {
		discard;
	}
	vec3 outgoingLight = vec3( 0.0 );
	#include <logdepthbuf_fragment>
	#include <map_fragment>
	#include <color_fragment>
	outgoingLight = diffuseColor.rgb;
	#include <opaque_fragment>
	#include <tonemapping_fragment>
	#include <colorspace_fragment>
	#include <fog_fragment>
	#include <premultiplied_alpha_fragment>
}`,VM=`#include <common>
#include <batching_pars_vertex>
#include <uv_pars_vertex>
#include <envmap_pars_vertex>
#include <color_pars_vertex>
#include <fog_pars_vertex>
#include <morphtarget_pars_vertex>
#include <skinning_pars_vertex>
#include <logdepthbuf_pars_vertex>
#include <clipping_planes_pars_vertex>
void main() {
	#include <uv_vertex>
	#include <color_vertex>
	#include <morphinstance_vertex>
	#include <morphcolor_vertex>
	#include <batching_vertex>
	#if defined ( USE_ENVMAP ) || defined ( USE_SKINNING )
		#include <beginnormal_vertex>
		#include <morphnormal_vertex>
		#include <skinbase_vertex>
		#include <skinnormal_vertex>
		#include <defaultnormal_vertex>
	#endif
	#include <begin_vertex>
	#include <morphtarget_vertex>
	#include <skinning_vertex>
	#include <project_vertex>
	#include <logdepthbuf_vertex>
	#include <clipping_planes_vertex>
	#include <worldpos_vertex>
	#include <envmap_vertex>
	#include <fog_vertex>
}`,GM=`uniform vec3 diffuse;
uniform float opacity;
#ifndef FLAT_SHADED
	varying vec3 vNormal;
#endif
#include <common>
#include <dithering_pars_fragment>
#include <color_pars_fragment>
#include <uv_pars_fragment>
#include <map_pars_fragment>
#include <alphamap_pars_fragment>
#include <alphatest_pars_fragment>
#include <alphahash_pars_fragment>
#include <aomap_pars_fragment>
#include <lightmap_pars_fragment>
#include <envmap_common_pars_fragment>
#include <envmap_pars_fragment>
#include <fog_pars_fragment>
#include <specularmap_pars_fragment>
#include <logdepthbuf_pars_fragment>
#include <clipping_planes_pars_fragment>
void main() {
	vec4 diffuseColor = vec4( diffuse, opacity );
	#include <clipping_planes_fragment>
	#include <logdepthbuf_fragment>
	#include <map_fragment>
	#include <color_fragment>
	#include <alphamap_fragment>
	#include <alphatest_fragment>
	#include <alphahash_fragment>
	#include <specularmap_fragment>
	ReflectedLight reflectedLight = ReflectedLight( vec3( 0.0 ), vec3( 0.0 ), vec3( 0.0 ), vec3( 0.0 ) );
	#ifdef USE_LIGHTMAP
		vec4 lightMapTexel = texture2D( lightMap, vLightMapUv );
		reflectedLight.indirectDiffuse += lightMapTexel.rgb * lightMapIntensity * RECIPROCAL_PI;
	#else
		reflectedLight.indirectDiffuse += vec3( 1.0 );
	#endif
	#include <aomap_fragment>
	reflectedLight.indirectDiffuse *= diffuseColor.rgb;
	vec3 outgoingLight = reflectedLight.indirectDiffuse;
	#include <envmap_fragment>
	#include <opaque_fragment>
	#include <tonemapping_fragment>
	#include <colorspace_fragment>
	#include <fog_fragment>
	#include <premultiplied_alpha_fragment>
	#include <dithering_fragment>
}`,HM=`#define LAMBERT
varying vec3 vViewPosition;
#include <common>
#include <batching_pars_vertex>
#include <uv_pars_vertex>
#include <displacementmap_pars_vertex>
#include <envmap_pars_vertex>
#include <color_pars_vertex>
#include <fog_pars_vertex>
#include <normal_pars_vertex>
#include <morphtarget_pars_vertex>
#include <skinning_pars_vertex>
#include <shadowmap_pars_vertex>
#include <logdepthbuf_pars_vertex>
#include <clipping_planes_pars_vertex>
void main() {
	#include <uv_vertex>
	#include <color_vertex>
	#include <morphinstance_vertex>
	#include <morphcolor_vertex>
	#include <batching_vertex>
	#include <beginnormal_vertex>
	#include <morphnormal_vertex>
	#include <skinbase_vertex>
	#include <skinnormal_vertex>
	#include <defaultnormal_vertex>
	#include <normal_vertex>
	#include <begin_vertex>
	#include <morphtarget_vertex>
	#include <skinning_vertex>
	#include <displacementmap_vertex>
	#include <project_vertex>
	#include <logdepthbuf_vertex>
	#include <clipping_planes_vertex>
	vViewPosition = - mvPosition.xyz;
	#include <worldpos_vertex>
	#include <envmap_vertex>
	#include <shadowmap_vertex>
	#include <fog_vertex>
}`,WM=`#define LAMBERT
uniform vec3 diffuse;
uniform vec3 emissive;
uniform float opacity;
#include <common>
#include <dithering_pars_fragment>
#include <color_pars_fragment>
#include <uv_pars_fragment>
#include <map_pars_fragment>
#include <alphamap_pars_fragment>
#include <alphatest_pars_fragment>
#include <alphahash_pars_fragment>
#include <aomap_pars_fragment>
#include <lightmap_pars_fragment>
#include <emissivemap_pars_fragment>
#include <envmap_common_pars_fragment>
#include <envmap_pars_fragment>
#include <envmap_physical_pars_fragment>
#include <fog_pars_fragment>
#include <bsdfs>
#include <lights_pars_begin>
#include <normal_pars_fragment>
#include <lights_lambert_pars_fragment>
#include <shadowmap_pars_fragment>
#include <bumpmap_pars_fragment>
#include <normalmap_pars_fragment>
#include <specularmap_pars_fragment>
#include <logdepthbuf_pars_fragment>
#include <clipping_planes_pars_fragment>
void main() {
	vec4 diffuseColor = vec4( diffuse, opacity );
	#include <clipping_planes_fragment>
	ReflectedLight reflectedLight = ReflectedLight( vec3( 0.0 ), vec3( 0.0 ), vec3( 0.0 ), vec3( 0.0 ) );
	vec3 totalEmissiveRadiance = emissive;
	#include <logdepthbuf_fragment>
	#include <map_fragment>
	#include <color_fragment>
	#include <alphamap_fragment>
	#include <alphatest_fragment>
	#include <alphahash_fragment>
	#include <specularmap_fragment>
	#include <normal_fragment_begin>
	#include <normal_fragment_maps>
	#include <emissivemap_fragment>
	#include <lights_lambert_fragment>
	#include <lights_fragment_begin>
	#include <lights_fragment_maps>
	#include <lights_fragment_end>
	#include <aomap_fragment>
	vec3 outgoingLight = reflectedLight.directDiffuse + reflectedLight.indirectDiffuse + totalEmissiveRadiance;
	#include <envmap_fragment>
	#include <opaque_fragment>
	#include <tonemapping_fragment>
	#include <colorspace_fragment>
	#include <fog_fragment>
	#include <premultiplied_alpha_fragment>
	#include <dithering_fragment>
}`,XM=`#define MATCAP
varying vec3 vViewPosition;
#include <common>
#include <batching_pars_vertex>
#include <uv_pars_vertex>
#include <color_pars_vertex>
#include <displacementmap_pars_vertex>
#include <fog_pars_vertex>
#include <normal_pars_vertex>
#include <morphtarget_pars_vertex>
#include <skinning_pars_vertex>
#include <logdepthbuf_pars_vertex>
#include <clipping_planes_pars_vertex>
void main() {
	#include <uv_vertex>
	#include <color_vertex>
	#include <morphinstance_vertex>
	#include <morphcolor_vertex>
	#include <batching_vertex>
	#include <beginnormal_vertex>
	#include <morphnormal_vertex>
	#include <skinbase_vertex>
	#include <skinnormal_vertex>
	#include <defaultnormal_vertex>
	#include <normal_vertex>
	#include <begin_vertex>
	#include <morphtarget_vertex>
	#include <skinning_vertex>
	#include <displacementmap_vertex>
	#include <project_vertex>
	#include <logdepthbuf_vertex>
	#include <clipping_planes_vertex>
	#include <fog_vertex>
	vViewPosition = - mvPosition.xyz;
}`,qM=`#define MATCAP
uniform vec3 diffuse;
uniform float opacity;
uniform sampler2D matcap;
varying vec3 vViewPosition;
#include <common>
#include <dithering_pars_fragment>
#include <color_pars_fragment>
#include <uv_pars_fragment>
#include <map_pars_fragment>
#include <alphamap_pars_fragment>
#include <alphatest_pars_fragment>
#include <alphahash_pars_fragment>
#include <fog_pars_fragment>
#include <normal_pars_fragment>
#include <bumpmap_pars_fragment>
#include <normalmap_pars_fragment>
#include <logdepthbuf_pars_fragment>
#include <clipping_planes_pars_fragment>
void main() {
	vec4 diffuseColor = vec4( diffuse, opacity );
	#include <clipping_planes_fragment>
	#include <logdepthbuf_fragment>
	#include <map_fragment>
	#include <color_fragment>
	#include <alphamap_fragment>
	#include <alphatest_fragment>
	#include <alphahash_fragment>
	#include <normal_fragment_begin>
	#include <normal_fragment_maps>
	vec3 viewDir = normalize( vViewPosition );
	vec3 x = normalize( vec3( viewDir.z, 0.0, - viewDir.x ) );
	vec3 y = cross( viewDir, x );
	vec2 uv = vec2( dot( x, normal ), dot( y, normal ) ) * 0.495 + 0.5;
	#ifdef USE_MATCAP
		vec4 matcapColor = texture2D( matcap, uv );
	#else
		vec4 matcapColor = vec4( vec3( mix( 0.2, 0.8, uv.y ) ), 1.0 );
	#endif
	vec3 outgoingLight = diffuseColor.rgb * matcapColor.rgb;
	#include <opaque_fragment>
	#include <tonemapping_fragment>
	#include <colorspace_fragment>
	#include <fog_fragment>
	#include <premultiplied_alpha_fragment>
	#include <dithering_fragment>
}`,YM=`#define NORMAL
#if defined( FLAT_SHADED ) || defined( USE_BUMPMAP ) || defined( USE_NORMALMAP_TANGENTSPACE )
	varying vec3 vViewPosition;
#endif
#include <common>
#include <batching_pars_vertex>
#include <uv_pars_vertex>
#include <displacementmap_pars_vertex>
#include <normal_pars_vertex>
#include <morphtarget_pars_vertex>
#include <skinning_pars_vertex>
#include <logdepthbuf_pars_vertex>
#include <clipping_planes_pars_vertex>
void main() {
	#include <uv_vertex>
	#include <batching_vertex>
	#include <beginnormal_vertex>
	#include <morphinstance_vertex>
	#include <morphnormal_vertex>
	#include <skinbase_vertex>
	#include <skinnormal_vertex>
	#include <defaultnormal_vertex>
	#include <normal_vertex>
	#include <begin_vertex>
	#include <morphtarget_vertex>
	#include <skinning_vertex>
	#include <displacementmap_vertex>
	#include <project_vertex>
	#include <logdepthbuf_vertex>
	#include <clipping_planes_vertex>
#if defined( FLAT_SHADED ) || defined( USE_BUMPMAP ) || defined( USE_NORMALMAP_TANGENTSPACE )
	vViewPosition = - mvPosition.xyz;
#endif
}`,ZM=`#define NORMAL
uniform float opacity;
#if defined( FLAT_SHADED ) || defined( USE_BUMPMAP ) || defined( USE_NORMALMAP_TANGENTSPACE )
	varying vec3 vViewPosition;
#endif
#include <uv_pars_fragment>
#include <normal_pars_fragment>
#include <bumpmap_pars_fragment>
#include <normalmap_pars_fragment>
#include <logdepthbuf_pars_fragment>
#include <clipping_planes_pars_fragment>
void main() {
	vec4 diffuseColor = vec4( 0.0, 0.0, 0.0, opacity );
	#include <clipping_planes_fragment>
	#include <logdepthbuf_fragment>
	#include <normal_fragment_begin>
	#include <normal_fragment_maps>
	gl_FragColor = vec4( normalize( normal ) * 0.5 + 0.5, diffuseColor.a );
	#ifdef OPAQUE
		gl_FragColor.a = 1.0;
	#endif
}`,JM=`#define PHONG
varying vec3 vViewPosition;
#include <common>
#include <batching_pars_vertex>
#include <uv_pars_vertex>
#include <displacementmap_pars_vertex>
#include <envmap_pars_vertex>
#include <color_pars_vertex>
#include <fog_pars_vertex>
#include <normal_pars_vertex>
#include <morphtarget_pars_vertex>
#include <skinning_pars_vertex>
#include <shadowmap_pars_vertex>
#include <logdepthbuf_pars_vertex>
#include <clipping_planes_pars_vertex>
void main() {
	#include <uv_vertex>
	#include <color_vertex>
	#include <morphcolor_vertex>
	#include <batching_vertex>
	#include <beginnormal_vertex>
	#include <morphinstance_vertex>
	#include <morphnormal_vertex>
	#include <skinbase_vertex>
	#include <skinnormal_vertex>
	#include <defaultnormal_vertex>
	#include <normal_vertex>
	#include <begin_vertex>
	#include <morphtarget_vertex>
	#include <skinning_vertex>
	#include <displacementmap_vertex>
	#include <project_vertex>
	#include <logdepthbuf_vertex>
	#include <clipping_planes_vertex>
	vViewPosition = - mvPosition.xyz;
	#include <worldpos_vertex>
	#include <envmap_vertex>
	#include <shadowmap_vertex>
	#include <fog_vertex>
}`,$M=`#define PHONG
uniform vec3 diffuse;
uniform vec3 emissive;
uniform vec3 specular;
uniform float shininess;
uniform float opacity;
#include <common>
#include <dithering_pars_fragment>
#include <color_pars_fragment>
#include <uv_pars_fragment>
#include <map_pars_fragment>
#include <alphamap_pars_fragment>
#include <alphatest_pars_fragment>
#include <alphahash_pars_fragment>
#include <aomap_pars_fragment>
#include <lightmap_pars_fragment>
#include <emissivemap_pars_fragment>
#include <envmap_common_pars_fragment>
#include <envmap_pars_fragment>
#include <envmap_physical_pars_fragment>
#include <fog_pars_fragment>
#include <bsdfs>
#include <lights_pars_begin>
#include <normal_pars_fragment>
#include <lights_phong_pars_fragment>
#include <shadowmap_pars_fragment>
#include <bumpmap_pars_fragment>
#include <normalmap_pars_fragment>
#include <specularmap_pars_fragment>
#include <logdepthbuf_pars_fragment>
#include <clipping_planes_pars_fragment>
void main() {
	vec4 diffuseColor = vec4( diffuse, opacity );
	#include <clipping_planes_fragment>
	ReflectedLight reflectedLight = ReflectedLight( vec3( 0.0 ), vec3( 0.0 ), vec3( 0.0 ), vec3( 0.0 ) );
	vec3 totalEmissiveRadiance = emissive;
	#include <logdepthbuf_fragment>
	#include <map_fragment>
	#include <color_fragment>
	#include <alphamap_fragment>
	#include <alphatest_fragment>
	#include <alphahash_fragment>
	#include <specularmap_fragment>
	#include <normal_fragment_begin>
	#include <normal_fragment_maps>
	#include <emissivemap_fragment>
	#include <lights_phong_fragment>
	#include <lights_fragment_begin>
	#include <lights_fragment_maps>
	#include <lights_fragment_end>
	#include <aomap_fragment>
	vec3 outgoingLight = reflectedLight.directDiffuse + reflectedLight.indirectDiffuse + reflectedLight.directSpecular + reflectedLight.indirectSpecular + totalEmissiveRadiance;
	#include <envmap_fragment>
	#include <opaque_fragment>
	#include <tonemapping_fragment>
	#include <colorspace_fragment>
	#include <fog_fragment>
	#include <premultiplied_alpha_fragment>
	#include <dithering_fragment>
}`,KM=`#define STANDARD
varying vec3 vViewPosition;
#ifdef USE_TRANSMISSION
	varying vec3 vWorldPosition;
#endif
#include <common>
#include <batching_pars_vertex>
#include <uv_pars_vertex>
#include <displacementmap_pars_vertex>
#include <color_pars_vertex>
#include <fog_pars_vertex>
#include <normal_pars_vertex>
#include <morphtarget_pars_vertex>
#include <skinning_pars_vertex>
#include <shadowmap_pars_vertex>
#include <logdepthbuf_pars_vertex>
#include <clipping_planes_pars_vertex>
void main() {
	#include <uv_vertex>
	#include <color_vertex>
	#include <morphinstance_vertex>
	#include <morphcolor_vertex>
	#include <batching_vertex>
	#include <beginnormal_vertex>
	#include <morphnormal_vertex>
	#include <skinbase_vertex>
	#include <skinnormal_vertex>
	#include <defaultnormal_vertex>
	#include <normal_vertex>
	#include <begin_vertex>
	#include <morphtarget_vertex>
	#include <skinning_vertex>
	#include <displacementmap_vertex>
	#include <project_vertex>
	#include <logdepthbuf_vertex>
	#include <clipping_planes_vertex>
	vViewPosition = - mvPosition.xyz;
	#include <worldpos_vertex>
	#include <shadowmap_vertex>
	#include <fog_vertex>
#ifdef USE_TRANSMISSION
	vWorldPosition = worldPosition.xyz;
#endif
}`,jM=`#define STANDARD
#ifdef PHYSICAL
	#define IOR
	#define USE_SPECULAR
#endif
uniform vec3 diffuse;
uniform vec3 emissive;
uniform float roughness;
uniform float metalness;
uniform float opacity;
#ifdef IOR
	uniform float ior;
#endif
#ifdef USE_SPECULAR
	uniform float specularIntensity;
	uniform vec3 specularColor;
	#ifdef USE_SPECULAR_COLORMAP
		uniform sampler2D specularColorMap;
	#endif
	#ifdef USE_SPECULAR_INTENSITYMAP
		uniform sampler2D specularIntensityMap;
	#endif
#endif
#ifdef USE_CLEARCOAT
	uniform float clearcoat;
	uniform float clearcoatRoughness;
#endif
#ifdef USE_DIFFUSE_ROUGHNESS
	uniform float diffuseRoughness;
	#ifdef USE_DIFFUSE_ROUGHNESSMAP
		uniform sampler2D diffuseRoughnessMap;
	#endif
#endif
#ifdef USE_DISPERSION
	uniform float dispersion;
#endif
#ifdef USE_RETROREFLECTION
	uniform float retroreflectivity;
#endif
#ifdef USE_IRIDESCENCE
	uniform float iridescence;
	uniform float iridescenceIOR;
	uniform float iridescenceThicknessMinimum;
	uniform float iridescenceThicknessMaximum;
#endif
#ifdef USE_SHEEN
	uniform vec3 sheenColor;
	uniform float sheenRoughness;
	#ifdef USE_SHEEN_COLORMAP
		uniform sampler2D sheenColorMap;
	#endif
	#ifdef USE_SHEEN_ROUGHNESSMAP
		uniform sampler2D sheenRoughnessMap;
	#endif
#endif
#ifdef USE_ANISOTROPY
	uniform vec2 anisotropyVector;
	#ifdef USE_ANISOTROPYMAP
		uniform sampler2D anisotropyMap;
	#endif
#endif
varying vec3 vViewPosition;
#include <common>
#include <dithering_pars_fragment>
#include <color_pars_fragment>
#include <uv_pars_fragment>
#include <map_pars_fragment>
#include <alphamap_pars_fragment>
#include <alphatest_pars_fragment>
#include <alphahash_pars_fragment>
#include <aomap_pars_fragment>
#include <lightmap_pars_fragment>
#include <emissivemap_pars_fragment>
#include <iridescence_fragment>
#include <envmap_common_pars_fragment>
#include <envmap_physical_pars_fragment>
#include <fog_pars_fragment>
#include <lights_pars_begin>
#include <normal_pars_fragment>
#include <lights_physical_pars_fragment>
#include <transmission_pars_fragment>
#include <shadowmap_pars_fragment>
#include <bumpmap_pars_fragment>
#include <normalmap_pars_fragment>
#include <clearcoat_pars_fragment>
#include <iridescence_pars_fragment>
#include <roughnessmap_pars_fragment>
#include <metalnessmap_pars_fragment>
#include <logdepthbuf_pars_fragment>
#include <clipping_planes_pars_fragment>
void main() {
	vec4 diffuseColor = vec4( diffuse, opacity );
	#include <clipping_planes_fragment>
	ReflectedLight reflectedLight = ReflectedLight( vec3( 0.0 ), vec3( 0.0 ), vec3( 0.0 ), vec3( 0.0 ) );
	vec3 totalEmissiveRadiance = emissive;
	#include <logdepthbuf_fragment>
	#include <map_fragment>
	#include <color_fragment>
	#include <alphamap_fragment>
	#include <alphatest_fragment>
	#include <alphahash_fragment>
	#include <roughnessmap_fragment>
	#include <metalnessmap_fragment>
	#include <normal_fragment_begin>
	#include <normal_fragment_maps>
	#include <clearcoat_normal_fragment_begin>
	#include <clearcoat_normal_fragment_maps>
	#include <emissivemap_fragment>
	#include <lights_physical_fragment>
	#include <lights_fragment_begin>
	#include <lights_fragment_maps>
	#include <lights_fragment_end>
	#include <aomap_fragment>
	vec3 totalDiffuse = reflectedLight.directDiffuse + reflectedLight.indirectDiffuse;
	vec3 totalSpecular = reflectedLight.directSpecular + reflectedLight.indirectSpecular;
	#include <transmission_fragment>
	vec3 outgoingLight = totalDiffuse + totalSpecular + totalEmissiveRadiance;
	#ifdef USE_SHEEN
 
		outgoingLight = outgoingLight + sheenSpecularDirect + sheenSpecularIndirect;
 
 	#endif
	#ifdef USE_CLEARCOAT
		float dotNVcc = saturate( dot( geometryClearcoatNormal, geometryViewDir ) );
		vec3 Fcc = F_Schlick( material.clearcoatF0, material.clearcoatF90, dotNVcc );
		outgoingLight = outgoingLight * ( 1.0 - material.clearcoat * Fcc ) + ( clearcoatSpecularDirect + clearcoatSpecularIndirect ) * material.clearcoat;
	#endif
	#include <opaque_fragment>
	#include <tonemapping_fragment>
	#include <colorspace_fragment>
	#include <fog_fragment>
	#include <premultiplied_alpha_fragment>
	#include <dithering_fragment>
}`,QM=`#define TOON
varying vec3 vViewPosition;
#include <common>
#include <batching_pars_vertex>
#include <uv_pars_vertex>
#include <displacementmap_pars_vertex>
#include <color_pars_vertex>
#include <fog_pars_vertex>
#include <normal_pars_vertex>
#include <morphtarget_pars_vertex>
#include <skinning_pars_vertex>
#include <shadowmap_pars_vertex>
#include <logdepthbuf_pars_vertex>
#include <clipping_planes_pars_vertex>
void main() {
	#include <uv_vertex>
	#include <color_vertex>
	#include <morphinstance_vertex>
	#include <morphcolor_vertex>
	#include <batching_vertex>
	#include <beginnormal_vertex>
	#include <morphnormal_vertex>
	#include <skinbase_vertex>
	#include <skinnormal_vertex>
	#include <defaultnormal_vertex>
	#include <normal_vertex>
	#include <begin_vertex>
	#include <morphtarget_vertex>
	#include <skinning_vertex>
	#include <displacementmap_vertex>
	#include <project_vertex>
	#include <logdepthbuf_vertex>
	#include <clipping_planes_vertex>
	vViewPosition = - mvPosition.xyz;
	#include <worldpos_vertex>
	#include <shadowmap_vertex>
	#include <fog_vertex>
}`,tb=`#define TOON
uniform vec3 diffuse;
uniform vec3 emissive;
uniform float opacity;
#include <common>
#include <dithering_pars_fragment>
#include <color_pars_fragment>
#include <uv_pars_fragment>
#include <map_pars_fragment>
#include <alphamap_pars_fragment>
#include <alphatest_pars_fragment>
#include <alphahash_pars_fragment>
#include <aomap_pars_fragment>
#include <lightmap_pars_fragment>
#include <emissivemap_pars_fragment>
#include <gradientmap_pars_fragment>
#include <fog_pars_fragment>
#include <bsdfs>
#include <lights_pars_begin>
#include <normal_pars_fragment>
#include <lights_toon_pars_fragment>
#include <shadowmap_pars_fragment>
#include <bumpmap_pars_fragment>
#include <normalmap_pars_fragment>
#include <logdepthbuf_pars_fragment>
#include <clipping_planes_pars_fragment>
void main() {
	vec4 diffuseColor = vec4( diffuse, opacity );
	#include <clipping_planes_fragment>
	ReflectedLight reflectedLight = ReflectedLight( vec3( 0.0 ), vec3( 0.0 ), vec3( 0.0 ), vec3( 0.0 ) );
	vec3 totalEmissiveRadiance = emissive;
	#include <logdepthbuf_fragment>
	#include <map_fragment>
	#include <color_fragment>
	#include <alphamap_fragment>
	#include <alphatest_fragment>
	#include <alphahash_fragment>
	#include <normal_fragment_begin>
	#include <normal_fragment_maps>
	#include <emissivemap_fragment>
	#include <lights_toon_fragment>
	#include <lights_fragment_begin>
	#include <lights_fragment_maps>
	#include <lights_fragment_end>
	#include <aomap_fragment>
	vec3 outgoingLight = reflectedLight.directDiffuse + reflectedLight.indirectDiffuse + totalEmissiveRadiance;
	#include <opaque_fragment>
	#include <tonemapping_fragment>
	#include <colorspace_fragment>
	#include <fog_fragment>
	#include <premultiplied_alpha_fragment>
	#include <dithering_fragment>
}`,eb=`uniform float size;
uniform float scale;
#include <common>
#include <color_pars_vertex>
#include <fog_pars_vertex>
#include <morphtarget_pars_vertex>
#include <logdepthbuf_pars_vertex>
#include <clipping_planes_pars_vertex>
#ifdef USE_POINTS_UV
	varying vec2 vUv;
	uniform mat3 uvTransform;
#endif
void main() {
	#ifdef USE_POINTS_UV
		vUv = ( uvTransform * vec3( uv, 1 ) ).xy;
	#endif
	#include <color_vertex>
	#include <morphinstance_vertex>
	#include <morphcolor_vertex>
	#include <begin_vertex>
	#include <morphtarget_vertex>
	#include <project_vertex>
	gl_PointSize = size;
	#ifdef USE_SIZEATTENUATION
		bool isPerspective = isPerspectiveMatrix( projectionMatrix );
		if ( isPerspective ) gl_PointSize *= ( scale / - mvPosition.z );
	#endif
	#include <logdepthbuf_vertex>
	#include <clipping_planes_vertex>
	#include <worldpos_vertex>
	#include <fog_vertex>
}`,nb=`uniform vec3 diffuse;
uniform float opacity;
#include <common>
#include <color_pars_fragment>
#include <map_particle_pars_fragment>
#include <alphatest_pars_fragment>
#include <alphahash_pars_fragment>
#include <fog_pars_fragment>
#include <logdepthbuf_pars_fragment>
#include <clipping_planes_pars_fragment>
void main() {
	vec4 diffuseColor = vec4( diffuse, opacity );
	#include <clipping_planes_fragment>
	vec3 outgoingLight = vec3( 0.0 );
	#include <logdepthbuf_fragment>
	#include <map_particle_fragment>
	#include <color_fragment>
	#include <alphatest_fragment>
	#include <alphahash_fragment>
	outgoingLight = diffuseColor.rgb;
	#include <opaque_fragment>
	#include <tonemapping_fragment>
	#include <colorspace_fragment>
	#include <fog_fragment>
	#include <premultiplied_alpha_fragment>
}`,ib=`#include <common>
#include <batching_pars_vertex>
#include <fog_pars_vertex>
#include <morphtarget_pars_vertex>
#include <skinning_pars_vertex>
#include <logdepthbuf_pars_vertex>
#include <shadowmap_pars_vertex>
void main() {
	#include <batching_vertex>
	#include <beginnormal_vertex>
	#include <morphinstance_vertex>
	#include <morphnormal_vertex>
	#include <skinbase_vertex>
	#include <skinnormal_vertex>
	#include <defaultnormal_vertex>
	#include <begin_vertex>
	#include <morphtarget_vertex>
	#include <skinning_vertex>
	#include <project_vertex>
	#include <logdepthbuf_vertex>
	#include <worldpos_vertex>
	#include <shadowmap_vertex>
	#include <fog_vertex>
}`,sb=`uniform vec3 color;
uniform float opacity;
#include <common>
#include <fog_pars_fragment>
#include <bsdfs>
#include <lights_pars_begin>
#include <logdepthbuf_pars_fragment>
#include <shadowmap_pars_fragment>
#include <shadowmask_pars_fragment>
void main() {
	#include <logdepthbuf_fragment>
	gl_FragColor = vec4( color, opacity * ( 1.0 - getShadowMask() ) );
	#include <tonemapping_fragment>
	#include <colorspace_fragment>
	#include <fog_fragment>
	#include <premultiplied_alpha_fragment>
}`,rb=`uniform float rotation;
uniform vec2 center;
#include <common>
#include <uv_pars_vertex>
#include <fog_pars_vertex>
#include <logdepthbuf_pars_vertex>
#include <clipping_planes_pars_vertex>
void main() {
	#include <uv_vertex>
	vec4 mvPosition = modelViewMatrix[ 3 ];
	vec2 scale = vec2( length( modelMatrix[ 0 ].xyz ), length( modelMatrix[ 1 ].xyz ) );
	#ifndef USE_SIZEATTENUATION
		bool isPerspective = isPerspectiveMatrix( projectionMatrix );
		if ( isPerspective ) scale *= - mvPosition.z;
	#endif
	vec2 alignedPosition = ( position.xy - ( center - vec2( 0.5 ) ) ) * scale;
	vec2 rotatedPosition;
	rotatedPosition.x = cos( rotation ) * alignedPosition.x - sin( rotation ) * alignedPosition.y;
	rotatedPosition.y = sin( rotation ) * alignedPosition.x + cos( rotation ) * alignedPosition.y;
	mvPosition.xy += rotatedPosition;
	gl_Position = projectionMatrix * mvPosition;
	#include <logdepthbuf_vertex>
	#include <clipping_planes_vertex>
	#include <fog_vertex>
}`,ob=`uniform vec3 diffuse;
uniform float opacity;
#include <common>
#include <uv_pars_fragment>
#include <map_pars_fragment>
#include <alphamap_pars_fragment>
#include <alphatest_pars_fragment>
#include <alphahash_pars_fragment>
#include <fog_pars_fragment>
#include <logdepthbuf_pars_fragment>
#include <clipping_planes_pars_fragment>
void main() {
	vec4 diffuseColor = vec4( diffuse, opacity );
	#include <clipping_planes_fragment>
	vec3 outgoingLight = vec3( 0.0 );
	#include <logdepthbuf_fragment>
	#include <map_fragment>
	#include <alphamap_fragment>
	#include <alphatest_fragment>
	#include <alphahash_fragment>
	outgoingLight = diffuseColor.rgb;
	#include <opaque_fragment>
	#include <tonemapping_fragment>
	#include <colorspace_fragment>
	#include <fog_fragment>
}`,he={alphahash_fragment:Cy,alphahash_pars_fragment:Ry,alphamap_fragment:Py,alphamap_pars_fragment:Iy,alphatest_fragment:Ly,alphatest_pars_fragment:Dy,aomap_fragment:Ny,aomap_pars_fragment:Uy,batching_pars_vertex:Fy,batching_vertex:Oy,begin_vertex:By,beginnormal_vertex:ky,bsdfs:zy,iridescence_fragment:Vy,bumpmap_pars_fragment:Gy,clipping_planes_fragment:Hy,clipping_planes_pars_fragment:Wy,clipping_planes_pars_vertex:Xy,clipping_planes_vertex:qy,color_fragment:Yy,color_pars_fragment:Zy,color_pars_vertex:Jy,color_vertex:$y,common:Ky,defaultnormal_vertex:jy,displacementmap_pars_vertex:Qy,displacementmap_vertex:tS,emissivemap_fragment:eS,emissivemap_pars_fragment:nS,colorspace_fragment:iS,colorspace_pars_fragment:sS,envmap_fragment:rS,envmap_common_pars_fragment:oS,envmap_pars_fragment:aS,envmap_pars_vertex:lS,envmap_physical_pars_fragment:vS,envmap_vertex:cS,fog_vertex:hS,fog_pars_vertex:uS,fog_fragment:dS,fog_pars_fragment:fS,gradientmap_pars_fragment:pS,lightmap_pars_fragment:mS,lights_lambert_fragment:gS,lights_lambert_pars_fragment:_S,lights_pars_begin:xS,lights_toon_fragment:yS,lights_toon_pars_fragment:SS,lights_phong_fragment:MS,lights_phong_pars_fragment:bS,lights_physical_fragment:wS,lights_physical_pars_fragment:AS,lights_fragment_begin:ES,lights_fragment_maps:TS,lights_fragment_end:CS,lightprobes_pars_fragment:RS,logdepthbuf_fragment:PS,logdepthbuf_pars_fragment:IS,logdepthbuf_pars_vertex:LS,logdepthbuf_vertex:DS,map_fragment:NS,map_pars_fragment:US,map_particle_fragment:FS,map_particle_pars_fragment:OS,metalnessmap_fragment:BS,metalnessmap_pars_fragment:kS,morphinstance_vertex:zS,morphcolor_vertex:VS,morphnormal_vertex:GS,morphtarget_pars_vertex:HS,morphtarget_vertex:WS,normal_fragment_begin:XS,normal_fragment_maps:qS,normal_pars_fragment:YS,normal_pars_vertex:ZS,normal_vertex:JS,normalmap_pars_fragment:$S,clearcoat_normal_fragment_begin:KS,clearcoat_normal_fragment_maps:jS,clearcoat_pars_fragment:QS,iridescence_pars_fragment:tM,opaque_fragment:eM,packing:nM,premultiplied_alpha_fragment:iM,project_vertex:sM,dithering_fragment:rM,dithering_pars_fragment:oM,roughnessmap_fragment:aM,roughnessmap_pars_fragment:lM,shadowmap_pars_fragment:cM,shadowmap_pars_vertex:hM,shadowmap_vertex:uM,shadowmask_pars_fragment:dM,skinbase_vertex:fM,skinning_pars_vertex:pM,skinning_vertex:mM,skinnormal_vertex:gM,specularmap_fragment:_M,specularmap_pars_fragment:xM,tonemapping_fragment:vM,tonemapping_pars_fragment:yM,transmission_fragment:SM,transmission_pars_fragment:MM,uv_pars_fragment:bM,uv_pars_vertex:wM,uv_vertex:AM,worldpos_vertex:EM,background_vert:TM,background_frag:CM,backgroundCube_vert:RM,backgroundCube_frag:PM,cube_vert:IM,cube_frag:LM,depth_vert:DM,depth_frag:NM,distance_vert:UM,distance_frag:FM,equirect_vert:OM,equirect_frag:BM,linedashed_vert:kM,linedashed_frag:zM,meshbasic_vert:VM,meshbasic_frag:GM,meshlambert_vert:HM,meshlambert_frag:WM,meshmatcap_vert:XM,meshmatcap_frag:qM,meshnormal_vert:YM,meshnormal_frag:ZM,meshphong_vert:JM,meshphong_frag:$M,meshphysical_vert:KM,meshphysical_frag:jM,meshtoon_vert:QM,meshtoon_frag:tb,points_vert:eb,points_frag:nb,shadow_vert:ib,shadow_frag:sb,sprite_vert:rb,sprite_frag:ob},Pt={common:{diffuse:{value:new ce(16777215)},opacity:{value:1},map:{value:null},mapTransform:{value:new te},alphaMap:{value:null},alphaMapTransform:{value:new te},alphaTest:{value:0}},specularmap:{specularMap:{value:null},specularMapTransform:{value:new te}},envmap:{envMap:{value:null},envMapRotation:{value:new te},reflectivity:{value:1},ior:{value:1.5},refractionRatio:{value:.98},dfgLUT:{value:null}},aomap:{aoMap:{value:null},aoMapIntensity:{value:1},aoMapTransform:{value:new te}},lightmap:{lightMap:{value:null},lightMapIntensity:{value:1},lightMapTransform:{value:new te}},bumpmap:{bumpMap:{value:null},bumpMapTransform:{value:new te},bumpScale:{value:1}},normalmap:{normalMap:{value:null},normalMapTransform:{value:new te},normalScale:{value:new Kt(1,1)}},displacementmap:{displacementMap:{value:null},displacementMapTransform:{value:new te},displacementScale:{value:1},displacementBias:{value:0}},emissivemap:{emissiveMap:{value:null},emissiveMapTransform:{value:new te}},metalnessmap:{metalnessMap:{value:null},metalnessMapTransform:{value:new te}},roughnessmap:{roughnessMap:{value:null},roughnessMapTransform:{value:new te}},gradientmap:{gradientMap:{value:null}},fog:{fogDensity:{value:25e-5},fogNear:{value:1},fogFar:{value:2e3},fogColor:{value:new ce(16777215)}},lights:{ambientLightColor:{value:[]},lightProbe:{value:[]},sunLights:{value:[],properties:{direction:{},color:{}}},sunLightShadows:{value:[],properties:{shadowIntensity:1,shadowBias:{},shadowNormalBias:{},shadowRadius:{},shadowMapSize:{}}},sunShadowMatrix:{value:[]},sunShadowCascade:{value:[]},directionalLights:{value:[],properties:{direction:{},color:{}}},directionalLightShadows:{value:[],properties:{shadowIntensity:1,shadowBias:{},shadowNormalBias:{},shadowRadius:{},shadowMapSize:{}}},directionalShadowMatrix:{value:[]},spotLights:{value:[],properties:{color:{},position:{},direction:{},distance:{},coneCos:{},penumbraCos:{},decay:{}}},spotLightShadows:{value:[],properties:{shadowIntensity:1,shadowBias:{},shadowNormalBias:{},shadowRadius:{},shadowMapSize:{}}},spotLightMap:{value:[]},spotLightMatrix:{value:[]},pointLights:{value:[],properties:{color:{},position:{},decay:{},distance:{}}},pointLightShadows:{value:[],properties:{shadowIntensity:1,shadowBias:{},shadowNormalBias:{},shadowRadius:{},shadowMapSize:{},shadowCameraNear:{},shadowCameraFar:{}}},pointShadowMatrix:{value:[]},hemisphereLights:{value:[],properties:{direction:{},skyColor:{},groundColor:{}}},rectAreaLights:{value:[],properties:{color:{},position:{},width:{},height:{}}},ltc_1:{value:null},ltc_2:{value:null},probesSH:{value:[]},probesMin:{value:[]},probesMax:{value:[]},probesResolution:{value:[]}},points:{diffuse:{value:new ce(16777215)},opacity:{value:1},size:{value:1},scale:{value:1},map:{value:null},alphaMap:{value:null},alphaMapTransform:{value:new te},alphaTest:{value:0},uvTransform:{value:new te}},sprite:{diffuse:{value:new ce(16777215)},opacity:{value:1},center:{value:new Kt(.5,.5)},rotation:{value:0},map:{value:null},mapTransform:{value:new te},alphaMap:{value:null},alphaMapTransform:{value:new te},alphaTest:{value:0}}},Jn={basic:{uniforms:Bn([Pt.common,Pt.specularmap,Pt.envmap,Pt.aomap,Pt.lightmap,Pt.fog]),vertexShader:he.meshbasic_vert,fragmentShader:he.meshbasic_frag},lambert:{uniforms:Bn([Pt.common,Pt.specularmap,Pt.envmap,Pt.aomap,Pt.lightmap,Pt.emissivemap,Pt.bumpmap,Pt.normalmap,Pt.displacementmap,Pt.fog,Pt.lights,{emissive:{value:new ce(0)},envMapIntensity:{value:1}}]),vertexShader:he.meshlambert_vert,fragmentShader:he.meshlambert_frag},phong:{uniforms:Bn([Pt.common,Pt.specularmap,Pt.envmap,Pt.aomap,Pt.lightmap,Pt.emissivemap,Pt.bumpmap,Pt.normalmap,Pt.displacementmap,Pt.fog,Pt.lights,{emissive:{value:new ce(0)},specular:{value:new ce(1118481)},shininess:{value:30},envMapIntensity:{value:1}}]),vertexShader:he.meshphong_vert,fragmentShader:he.meshphong_frag},standard:{uniforms:Bn([Pt.common,Pt.envmap,Pt.aomap,Pt.lightmap,Pt.emissivemap,Pt.bumpmap,Pt.normalmap,Pt.displacementmap,Pt.roughnessmap,Pt.metalnessmap,Pt.fog,Pt.lights,{emissive:{value:new ce(0)},roughness:{value:1},metalness:{value:0},envMapIntensity:{value:1}}]),vertexShader:he.meshphysical_vert,fragmentShader:he.meshphysical_frag},toon:{uniforms:Bn([Pt.common,Pt.aomap,Pt.lightmap,Pt.emissivemap,Pt.bumpmap,Pt.normalmap,Pt.displacementmap,Pt.gradientmap,Pt.fog,Pt.lights,{emissive:{value:new ce(0)}}]),vertexShader:he.meshtoon_vert,fragmentShader:he.meshtoon_frag},matcap:{uniforms:Bn([Pt.common,Pt.bumpmap,Pt.normalmap,Pt.displacementmap,Pt.fog,{matcap:{value:null}}]),vertexShader:he.meshmatcap_vert,fragmentShader:he.meshmatcap_frag},points:{uniforms:Bn([Pt.points,Pt.fog]),vertexShader:he.points_vert,fragmentShader:he.points_frag},dashed:{uniforms:Bn([Pt.common,Pt.fog,{scale:{value:1},dashSize:{value:1},totalSize:{value:2}}]),vertexShader:he.linedashed_vert,fragmentShader:he.linedashed_frag},depth:{uniforms:Bn([Pt.common,Pt.displacementmap]),vertexShader:he.depth_vert,fragmentShader:he.depth_frag},normal:{uniforms:Bn([Pt.common,Pt.bumpmap,Pt.normalmap,Pt.displacementmap,{opacity:{value:1}}]),vertexShader:he.meshnormal_vert,fragmentShader:he.meshnormal_frag},sprite:{uniforms:Bn([Pt.sprite,Pt.fog]),vertexShader:he.sprite_vert,fragmentShader:he.sprite_frag},background:{uniforms:{uvTransform:{value:new te},t2D:{value:null},backgroundIntensity:{value:1}},vertexShader:he.background_vert,fragmentShader:he.background_frag},backgroundCube:{uniforms:{envMap:{value:null},backgroundBlurriness:{value:0},backgroundIntensity:{value:1},backgroundRotation:{value:new te}},vertexShader:he.backgroundCube_vert,fragmentShader:he.backgroundCube_frag},cube:{uniforms:{tCube:{value:null},tFlip:{value:-1},opacity:{value:1}},vertexShader:he.cube_vert,fragmentShader:he.cube_frag},equirect:{uniforms:{tEquirect:{value:null}},vertexShader:he.equirect_vert,fragmentShader:he.equirect_frag},distance:{uniforms:Bn([Pt.common,Pt.displacementmap,{referencePosition:{value:new O},nearDistance:{value:1},farDistance:{value:1e3}}]),vertexShader:he.distance_vert,fragmentShader:he.distance_frag},shadow:{uniforms:Bn([Pt.lights,Pt.fog,{color:{value:new ce(0)},opacity:{value:1}}]),vertexShader:he.shadow_vert,fragmentShader:he.shadow_frag}};Jn.physical={uniforms:Bn([Jn.standard.uniforms,{clearcoat:{value:0},clearcoatMap:{value:null},clearcoatMapTransform:{value:new te},clearcoatNormalMap:{value:null},clearcoatNormalMapTransform:{value:new te},clearcoatNormalScale:{value:new Kt(1,1)},clearcoatRoughness:{value:0},clearcoatRoughnessMap:{value:null},clearcoatRoughnessMapTransform:{value:new te},diffuseRoughness:{value:0},diffuseRoughnessMap:{value:null},diffuseRoughnessMapTransform:{value:new te},dispersion:{value:0},retroreflectivity:{value:0},iridescence:{value:0},iridescenceMap:{value:null},iridescenceMapTransform:{value:new te},iridescenceIOR:{value:1.3},iridescenceThicknessMinimum:{value:100},iridescenceThicknessMaximum:{value:400},iridescenceThicknessMap:{value:null},iridescenceThicknessMapTransform:{value:new te},sheen:{value:0},sheenColor:{value:new ce(0)},sheenColorMap:{value:null},sheenColorMapTransform:{value:new te},sheenRoughness:{value:1},sheenRoughnessMap:{value:null},sheenRoughnessMapTransform:{value:new te},transmission:{value:0},transmissionMap:{value:null},transmissionMapTransform:{value:new te},transmissionSamplerSize:{value:new Kt},transmissionSamplerMap:{value:null},thickness:{value:0},thicknessMap:{value:null},thicknessMapTransform:{value:new te},attenuationDistance:{value:0},attenuationColor:{value:new ce(0)},specularColor:{value:new ce(1,1,1)},specularColorMap:{value:null},specularColorMapTransform:{value:new te},specularIntensity:{value:1},specularIntensityMap:{value:null},specularIntensityMapTransform:{value:new te},anisotropyVector:{value:new Kt},anisotropyMap:{value:null},anisotropyMapTransform:{value:new te}}]),vertexShader:he.meshphysical_vert,fragmentShader:he.meshphysical_frag};var yh={r:0,b:0,g:0},ab=new ye,S0=new te;S0.set(-1,0,0,0,1,0,0,0,1);function lb(i,t,e,n,s,r){let o=new ce(0),a=s===!0?0:1,l,c,h=null,d=0,u=null;function f(v){let T=v.isScene===!0?v.background:null;if(T&&T.isTexture){let M=v.backgroundBlurriness>0;T=t.get(T,M)}return T}function g(v){let T=!1,M=f(v);M===null?m(o,a):M&&M.isColor&&(m(M,1),T=!0);let P=i.xr.getEnvironmentBlendMode();P==="additive"?e.buffers.color.setClear(0,0,0,1,r):P==="alpha-blend"&&e.buffers.color.setClear(0,0,0,0,r),(i.autoClear||T)&&(e.buffers.depth.setTest(!0),e.buffers.depth.setMask(!0),e.buffers.color.setMask(!0),i.clear(i.autoClearColor,i.autoClearDepth,i.autoClearStencil))}function y(v,T){let M=f(T);M&&M.isCubeTexture?(c===void 0&&(c=new xe(new Gs(1,1,1),new Si({name:"BackgroundCubeMaterial",uniforms:vr(Jn.backgroundCube.uniforms),vertexShader:Jn.backgroundCube.vertexShader,fragmentShader:Jn.backgroundCube.fragmentShader,side:Zn,depthTest:!1,depthWrite:!1,fog:!1,allowOverride:!1})),c.geometry.deleteAttribute("normal"),c.geometry.deleteAttribute("uv"),c.onBeforeRender=function(P,E,x){this.matrixWorld.copyPosition(x.matrixWorld)},Object.defineProperty(c.material,"envMap",{get:function(){return this.uniforms.envMap.value}}),n.update(c)),c.material.uniforms.envMap.value=M,c.material.uniforms.backgroundBlurriness.value=T.backgroundBlurriness,c.material.uniforms.backgroundIntensity.value=T.backgroundIntensity,c.material.uniforms.backgroundRotation.value.setFromMatrix4(ab.makeRotationFromEuler(T.backgroundRotation)).transpose(),M.isRenderTargetTexture===!1&&c.material.uniforms.backgroundRotation.value.premultiply(S0),c.material.toneMapped=_e.getTransfer(M.colorSpace)!==Te,(h!==M||d!==M.version||u!==i.toneMapping)&&(c.material.needsUpdate=!0,h=M,d=M.version,u=i.toneMapping),c.layers.enableAll(),v.unshift(c,c.geometry,c.material,0,0,null)):M&&M.isTexture&&(l===void 0&&(l=new xe(new Ea(2,2),new Si({name:"BackgroundMaterial",uniforms:vr(Jn.background.uniforms),vertexShader:Jn.background.vertexShader,fragmentShader:Jn.background.fragmentShader,side:Ys,depthTest:!1,depthWrite:!1,fog:!1,allowOverride:!1})),l.geometry.deleteAttribute("normal"),Object.defineProperty(l.material,"map",{get:function(){return this.uniforms.t2D.value}}),n.update(l)),l.material.uniforms.t2D.value=M,l.material.uniforms.backgroundIntensity.value=T.backgroundIntensity,l.material.toneMapped=_e.getTransfer(M.colorSpace)!==Te,M.matrixAutoUpdate===!0&&M.updateMatrix(),l.material.uniforms.uvTransform.value.copy(M.matrix),(h!==M||d!==M.version||u!==i.toneMapping)&&(l.material.needsUpdate=!0,h=M,d=M.version,u=i.toneMapping),l.layers.enableAll(),v.unshift(l,l.geometry,l.material,0,0,null))}function m(v,T){v.getRGB(yh,Yd(i)),e.buffers.color.setClear(yh.r,yh.g,yh.b,T,r)}function p(){c!==void 0&&(c.geometry.dispose(),c.material.dispose(),c=void 0),l!==void 0&&(l.geometry.dispose(),l.material.dispose(),l=void 0)}return{getClearColor:function(){return o},setClearColor:function(v,T=1){o.set(v),a=T,m(o,a)},getClearAlpha:function(){return a},setClearAlpha:function(v){a=v,m(o,a)},render:g,addToRenderList:y,dispose:p}}function cb(i,t){let e=i.getParameter(i.MAX_VERTEX_ATTRIBS),n={},s=u(null),r=s,o=!1;function a(D,z,H,L,W){let Y=!1,G=d(D,L,H,z);r!==G&&(r=G,c(r.object)),Y=f(D,L,H,W),Y&&g(D,L,H,W),W!==null&&t.update(W,i.ELEMENT_ARRAY_BUFFER),(Y||o)&&(o=!1,M(D,z,H,L),W!==null&&i.bindBuffer(i.ELEMENT_ARRAY_BUFFER,t.get(W).buffer))}function l(){return i.createVertexArray()}function c(D){return i.bindVertexArray(D)}function h(D){return i.deleteVertexArray(D)}function d(D,z,H,L){let W=L.wireframe===!0,Y=n[z.id];Y===void 0&&(Y={},n[z.id]=Y);let G=D.isInstancedMesh===!0?D.id:0,lt=Y[G];lt===void 0&&(lt={},Y[G]=lt);let $=lt[H.id];$===void 0&&($={},lt[H.id]=$);let j=$[W];return j===void 0&&(j=u(l()),$[W]=j),j}function u(D){let z=[],H=[],L=[];for(let W=0;W<e;W++)z[W]=0,H[W]=0,L[W]=0;return{geometry:null,program:null,wireframe:!1,newAttributes:z,enabledAttributes:H,attributeDivisors:L,object:D,attributes:{},index:null}}function f(D,z,H,L){let W=r.attributes,Y=z.attributes,G=0,lt=H.getAttributes();for(let $ in lt)if(lt[$].location>=0){let it=W[$],ut=Y[$];if(ut===void 0&&($==="instanceMatrix"&&D.instanceMatrix&&(ut=D.instanceMatrix),$==="instanceColor"&&D.instanceColor&&(ut=D.instanceColor)),it===void 0||it.attribute!==ut||ut&&it.data!==ut.data)return!0;G++}return r.attributesNum!==G||r.index!==L}function g(D,z,H,L){let W={},Y=z.attributes,G=0,lt=H.getAttributes();for(let $ in lt)if(lt[$].location>=0){let it=Y[$];it===void 0&&($==="instanceMatrix"&&D.instanceMatrix&&(it=D.instanceMatrix),$==="instanceColor"&&D.instanceColor&&(it=D.instanceColor));let ut={};ut.attribute=it,it&&it.data&&(ut.data=it.data),W[$]=ut,G++}r.attributes=W,r.attributesNum=G,r.index=L}function y(){let D=r.newAttributes;for(let z=0,H=D.length;z<H;z++)D[z]=0}function m(D){p(D,0)}function p(D,z){let H=r.newAttributes,L=r.enabledAttributes,W=r.attributeDivisors;H[D]=1,L[D]===0&&(i.enableVertexAttribArray(D),L[D]=1),W[D]!==z&&(i.vertexAttribDivisor(D,z),W[D]=z)}function v(){let D=r.newAttributes,z=r.enabledAttributes;for(let H=0,L=z.length;H<L;H++)z[H]!==D[H]&&(i.disableVertexAttribArray(H),z[H]=0)}function T(D,z,H,L,W,Y,G){G===!0?i.vertexAttribIPointer(D,z,H,W,Y):i.vertexAttribPointer(D,z,H,L,W,Y)}function M(D,z,H,L){y();let W=L.attributes,Y=H.getAttributes(),G=z.defaultAttributeValues;for(let lt in Y){let $=Y[lt];if($.location>=0){let j=W[lt];if(j===void 0&&(lt==="instanceMatrix"&&D.instanceMatrix&&(j=D.instanceMatrix),lt==="instanceColor"&&D.instanceColor&&(j=D.instanceColor)),j!==void 0){let it=j.normalized,ut=j.itemSize,ht=t.get(j);if(ht===void 0)continue;let Q=ht.buffer,mt=ht.type,xt=ht.bytesPerElement,Tt=mt===i.INT||mt===i.UNSIGNED_INT||j.gpuType===Uc;if(j.isInterleavedBufferAttribute){let Mt=j.data,Ht=Mt.isInterleavedBuffer===!0?Mt.stride:Mt.itemSize,se=j.offset;if(Mt.isInstancedInterleavedBuffer||Mt.isInstancedBufferAttribute){for(let Vt=0;Vt<$.locationSize;Vt++)p($.location+Vt,Mt.meshPerAttribute);D.isInstancedMesh!==!0&&L._maxInstanceCount===void 0&&(L._maxInstanceCount=Mt.meshPerAttribute*Mt.count)}else for(let Vt=0;Vt<$.locationSize;Vt++)m($.location+Vt);i.bindBuffer(i.ARRAY_BUFFER,Q);for(let Vt=0;Vt<$.locationSize;Vt++)T($.location+Vt,ut/$.locationSize,mt,it,Ht*xt,(se+ut/$.locationSize*Vt)*xt,Tt)}else{if(j.isInstancedBufferAttribute){for(let Mt=0;Mt<$.locationSize;Mt++)p($.location+Mt,j.meshPerAttribute);D.isInstancedMesh!==!0&&L._maxInstanceCount===void 0&&(L._maxInstanceCount=j.meshPerAttribute*j.count)}else for(let Mt=0;Mt<$.locationSize;Mt++)m($.location+Mt);i.bindBuffer(i.ARRAY_BUFFER,Q);for(let Mt=0;Mt<$.locationSize;Mt++)T($.location+Mt,ut/$.locationSize,mt,it,ut*xt,ut/$.locationSize*Mt*xt,Tt)}}else if(G!==void 0){let it=G[lt];if(it!==void 0)switch(it.length){case 2:i.vertexAttrib2fv($.location,it);break;case 3:i.vertexAttrib3fv($.location,it);break;case 4:i.vertexAttrib4fv($.location,it);break;default:i.vertexAttrib1fv($.location,it)}}}}v()}function P(){k();for(let D in n){let z=n[D];for(let H in z){let L=z[H];for(let W in L){let Y=L[W];for(let G in Y)h(Y[G].object),delete Y[G];delete L[W]}}delete n[D]}}function E(D){if(n[D.id]===void 0)return;let z=n[D.id];for(let H in z){let L=z[H];for(let W in L){let Y=L[W];for(let G in Y)h(Y[G].object),delete Y[G];delete L[W]}}delete n[D.id]}function x(D){for(let z in n){let H=n[z];for(let L in H){let W=H[L];if(W[D.id]===void 0)continue;let Y=W[D.id];for(let G in Y)h(Y[G].object),delete Y[G];delete W[D.id]}}}function A(D){for(let z in n){let H=n[z],L=D.isInstancedMesh===!0?D.id:0,W=H[L];if(W!==void 0){for(let Y in W){let G=W[Y];for(let lt in G)h(G[lt].object),delete G[lt];delete W[Y]}delete H[L],Object.keys(H).length===0&&delete n[z]}}}function k(){N(),o=!0,r!==s&&(r=s,c(r.object))}function N(){s.geometry=null,s.program=null,s.wireframe=!1}return{setup:a,reset:k,resetDefaultState:N,dispose:P,releaseStatesOfGeometry:E,releaseStatesOfObject:A,releaseStatesOfProgram:x,initAttributes:y,enableAttribute:m,disableUnusedAttributes:v}}function hb(i,t,e){let n;function s(l){n=l}function r(l,c){i.drawArrays(n,l,c),e.update(c,n,1)}function o(l,c,h){h!==0&&(i.drawArraysInstanced(n,l,c,h),e.update(c,n,h))}function a(l,c,h){if(h===0)return;t.get("WEBGL_multi_draw").multiDrawArraysWEBGL(n,l,0,c,0,h);let u=0;for(let f=0;f<h;f++)u+=c[f];e.update(u,n,1)}this.setMode=s,this.render=r,this.renderInstances=o,this.renderMultiDraw=a}function ub(i,t,e,n){let s;function r(){if(s!==void 0)return s;if(t.has("EXT_texture_filter_anisotropic")===!0){let x=t.get("EXT_texture_filter_anisotropic");s=i.getParameter(x.MAX_TEXTURE_MAX_ANISOTROPY_EXT)}else s=0;return s}function o(x){return!(x!==ki&&n.convert(x)!==i.getParameter(i.IMPLEMENTATION_COLOR_READ_FORMAT))}function a(x){let A=x===Bi&&(t.has("EXT_color_buffer_half_float")||t.has("EXT_color_buffer_float"));return!(x!==jn&&x!==bi&&!A&&n.convert(x)!==i.getParameter(i.IMPLEMENTATION_COLOR_READ_TYPE))}function l(x){if(x==="highp"){if(i.getShaderPrecisionFormat(i.VERTEX_SHADER,i.HIGH_FLOAT).precision>0&&i.getShaderPrecisionFormat(i.FRAGMENT_SHADER,i.HIGH_FLOAT).precision>0)return"highp";x="mediump"}return x==="mediump"&&i.getShaderPrecisionFormat(i.VERTEX_SHADER,i.MEDIUM_FLOAT).precision>0&&i.getShaderPrecisionFormat(i.FRAGMENT_SHADER,i.MEDIUM_FLOAT).precision>0?"mediump":"lowp"}let c=e.precision!==void 0?e.precision:"highp",h=l(c);h!==c&&(qt("WebGLRenderer:",c,"not supported, using",h,"instead."),c=h);let d=e.reversedDepthBuffer===!0&&t.has("EXT_clip_control"),u=e.logarithmicDepthBuffer===!0&&d===!1;e.reversedDepthBuffer===!0&&d===!1&&qt("WebGLRenderer: Unable to use reversed depth buffer due to missing EXT_clip_control extension. Fallback to default depth buffer."),e.logarithmicDepthBuffer===!0&&d===!0&&qt("WebGLRenderer: Logarithmic depth buffer is ignored when reversed depth buffer is enabled.");let f=i.getParameter(i.MAX_TEXTURE_IMAGE_UNITS),g=i.getParameter(i.MAX_VERTEX_TEXTURE_IMAGE_UNITS),y=i.getParameter(i.MAX_TEXTURE_SIZE),m=i.getParameter(i.MAX_CUBE_MAP_TEXTURE_SIZE),p=i.getParameter(i.MAX_VERTEX_ATTRIBS),v=i.getParameter(i.MAX_VERTEX_UNIFORM_VECTORS),T=i.getParameter(i.MAX_VARYING_VECTORS),M=i.getParameter(i.MAX_FRAGMENT_UNIFORM_VECTORS),P=i.getParameter(i.MAX_SAMPLES),E=i.getParameter(i.SAMPLES);return{isWebGL2:!0,getMaxAnisotropy:r,getMaxPrecision:l,textureFormatReadable:o,textureTypeReadable:a,precision:c,logarithmicDepthBuffer:u,reversedDepthBuffer:d,maxTextures:f,maxVertexTextures:g,maxTextureSize:y,maxCubemapSize:m,maxAttributes:p,maxVertexUniforms:v,maxVaryings:T,maxFragmentUniforms:M,maxSamples:P,samples:E}}function db(i){let t=this,e=null,n=0,s=!1,r=!1,o=new Ni,a=new te,l={value:null,needsUpdate:!1};this.uniform=l,this.numPlanes=0,this.numIntersection=0,this.init=function(d,u){let f=d.length!==0||u||n!==0||s;return s=u,n=d.length,f},this.beginShadows=function(){r=!0,h(null)},this.endShadows=function(){r=!1},this.setGlobalState=function(d,u){e=h(d,u,0)},this.setState=function(d,u,f){let g=d.clippingPlanes,y=d.clipIntersection,m=d.clipShadows,p=i.get(d);if(!s||g===null||g.length===0||r&&!m)r?h(null):c();else{let v=r?0:n,T=v*4,M=p.clippingState||null;l.value=M,M=h(g,u,T,f);for(let P=0;P!==T;++P)M[P]=e[P];p.clippingState=M,this.numIntersection=y?this.numPlanes:0,this.numPlanes+=v}};function c(){l.value!==e&&(l.value=e,l.needsUpdate=n>0),t.numPlanes=n,t.numIntersection=0}function h(d,u,f,g){let y=d!==null?d.length:0,m=null;if(y!==0){if(m=l.value,g!==!0||m===null){let p=f+y*4,v=u.matrixWorldInverse;a.getNormalMatrix(v),(m===null||m.length<p)&&(m=new Float32Array(p));for(let T=0,M=f;T!==y;++T,M+=4)o.copy(d[T]).applyMatrix4(v,a),o.normal.toArray(m,M),m[M+3]=o.constant}l.value=m,l.needsUpdate=!0}return t.numPlanes=y,t.numIntersection=0,m}}var Ya=class extends ci{constructor(t=1,e={}){super(t,t,e),this.isWebGLCubeRenderTarget=!0;let n={width:t,height:t,depth:1},s=[n,n,n,n,n,n];this.texture=new va(s),this._setTextureOptions(e),this.texture.isRenderTargetTexture=!0}fromEquirectangularTexture(t,e){this.texture.type=e.type,this.texture.colorSpace=e.colorSpace,this.texture.generateMipmaps=e.generateMipmaps,this.texture.minFilter=e.minFilter,this.texture.magFilter=e.magFilter;let n={uniforms:{tEquirect:{value:null}},vertexShader:`

				varying vec3 vWorldDirection;

				vec3 transformDirection( in vec3 dir, in mat4 matrix ) {

					return normalize( ( matrix * vec4( dir, 0.0 ) ).xyz );

				}

				void main() {

					vWorldDirection = transformDirection( position, modelMatrix );

					#include <begin_vertex>
					#include <project_vertex>

				}
			`,fragmentShader:`

				uniform sampler2D tEquirect;

				varying vec3 vWorldDirection;

				#include <common>

				void main() {

					vec3 direction = normalize( vWorldDirection );

					vec2 sampleUV = equirectUv( direction );

					gl_FragColor = texture2D( tEquirect, sampleUV );

				}
			`},s=new Gs(5,5,5),r=new Si({name:"CubemapFromEquirect",uniforms:vr(n.uniforms),vertexShader:n.vertexShader,fragmentShader:n.fragmentShader,side:Zn,blending:mr});r.uniforms.tEquirect.value=e;let o=new xe(s,r),a=e.minFilter;return e.minFilter===Ms&&(e.minFilter=Yn),new go(1,10,this).update(t,o),e.minFilter=a,o.geometry.dispose(),o.material.dispose(),this}clear(t,e=!0,n=!0,s=!0){let r=t.getRenderTarget();for(let o=0;o<6;o++)t.setRenderTarget(this,o),t.clear(e,n,s);t.setRenderTarget(r)}},Qg=256,fb=3,pb=20,M0=256,b0=16,mb=3,gb=new O,_b=new ce,Mh=class i{constructor(t){this._renderer=t,this._cubeSize=0,this._sourceTarget=null,this._cubeCamera=new go(1,10,null),this._boxMesh=new xe(new Gs(5,5,5),null),this._cubemapMaterial=null,this._equirectMaterial=null,this._blurMaterial=null,this._ggxMaterial=null,this._integrationMaterial=null}fromScene(t,e=0,n=.1,s=100,r={}){let{size:o=256,position:a=gb}=r,l=this._renderer;this._setSize(o);let c=this._allocateTarget(),h=this._getSourceTarget(!0);e>0&&(h.texture.mipmapsAutoUpdate=!1);let d=l.autoClear,u=l.autoClearColor,f=l.autoClearDepth,g=l.autoClearStencil,y=t.background;l.autoClear=!0,l.autoClearColor=!0,l.autoClearDepth=!0,l.autoClearStencil=!0,y===null&&(t.background=l.getClearColor(_b));let m=new go(n,s,h);return m.position.copy(a),m.update(l,t),l.autoClear=d,l.autoClearColor=u,l.autoClearDepth=f,l.autoClearStencil=g,t.background=y,e>0&&(h.texture.mipmapsAutoUpdate=!0,this._blur(c,e)),this._applyPMREM(c),c}fromEquirectangular(t,e=null){return this._fromTexture(t,e)}fromCubemap(t,e=null){return this._fromTexture(t,e)}compileCubemapShader(){this._cubemapMaterial===null&&(this._cubemapMaterial=n0(),this._compileMaterial(this._cubemapMaterial))}compileEquirectangularShader(){this._equirectMaterial===null&&(this._equirectMaterial=e0(),this._compileMaterial(this._equirectMaterial))}dispose(){this._sourceTarget!==null&&this._sourceTarget.dispose(),this._cubemapMaterial!==null&&this._cubemapMaterial.dispose(),this._equirectMaterial!==null&&this._equirectMaterial.dispose(),this._blurMaterial!==null&&this._blurMaterial.dispose(),this._ggxMaterial!==null&&this._ggxMaterial.dispose(),this._integrationMaterial!==null&&this._integrationMaterial.dispose(),this._boxMesh.geometry.dispose()}static lodToRoughness(t,e){return e>0?1-Math.sqrt(1-t/e):0}_setSize(t){this._cubeSize=Math.max(Qg,Hd(t))}_fromTexture(t,e){t.mapping===_r||t.mapping===vo?this._setSize(t.image.length===0?Qg:t.image[0].width||t.image[0].image.width):this._setSize(t.image.width/4);let n=e||this._allocateTarget();return this._textureToCubemap(t),this._applyPMREM(n),n}_allocateTarget(){let t=this._cubeSize,e=t0(t,!1,!1),n=Math.log2(t)-fb;for(let s=0;s<=n;s++)e.texture.mipmaps.push({width:t>>s,height:t>>s});return e.texture.name="PMREM",e.texture.isPMREMTexture=!0,e}_getSourceTarget(t=!1){let e=this._cubeSize,n=this._sourceTarget;return(n===null||n.width!==e||t&&n.depthBuffer===!1)&&(n!==null&&n.dispose(),this._sourceTarget=t0(e,!0,t)),this._sourceTarget}_compileMaterial(t){this._boxMesh.material=t,this._renderer.compile(this._boxMesh,this._cubeCamera.children[0])}_renderCube(t,e,n){let s=this._boxMesh,r=this._cubeCamera;s.material=n,r.renderTarget=t,r.activeMipmapLevel=e;let o=t.width>>e;t.viewport.set(0,0,o,o),r.update(this._renderer,s),t.viewport.set(0,0,t.width,t.height)}_textureToCubemap(t){let e;t.mapping===_r||t.mapping===vo?(this._cubemapMaterial===null&&(this._cubemapMaterial=n0()),e=this._cubemapMaterial,e.uniforms.flipEnvMap.value=t.isRenderTargetTexture===!1?-1:1):(this._equirectMaterial===null&&(this._equirectMaterial=e0()),e=this._equirectMaterial),e.uniforms.envMap.value=t,this._renderCube(this._getSourceTarget(),0,e)}_applyPMREM(t){this._ggxMaterial===null&&(this._ggxMaterial=xb(),this._integrationMaterial=vb());let e=this._cubeSize,n=t.texture.mipmaps.length-1,s=this._ggxMaterial.uniforms;s.envMap.value=this._sourceTarget.texture;let r=this._integrationMaterial.uniforms;r.envMap.value=this._sourceTarget.texture,r.sourceLod.value=Math.log2(e/b0);for(let o=0;o<=n;o++){let a=i.lodToRoughness(o,n);if(o>n-mb)r.roughness.value=a,this._renderCube(t,o,this._integrationMaterial);else{let l=a>0?Math.log2(e)+.5*Math.log2(6/(M0*Math.pow(a,4)))+.5:0;s.roughness.value=a,s.lodBias.value=l,this._renderCube(t,o,this._ggxMaterial)}}}_blur(t,e){this._blurMaterial===null&&(this._blurMaterial=yb());let n=this._blurMaterial,s=n.uniforms,r=this._sourceTarget;s.sigma.value=Math.min(e,Math.PI)/Math.SQRT2,s.envMap.value=r.texture,this._renderCube(t,0,n),s.envMap.value=t.texture,this._renderCube(r,0,n)}};function t0(i,t,e){return new Ya(i,{minFilter:Ms,generateMipmaps:t,type:Bi,colorSpace:ra,depthBuffer:e})}function Za(i,t,e){return new Si({name:i,uniforms:t,vertexShader:he.cube_vert,fragmentShader:e,side:Zn,blending:mr,depthTest:!1,depthWrite:!1})}function xb(){return Za("PMREMGGXConvolution",{envMap:{value:null},roughness:{value:0},lodBias:{value:0}},`

		#define GGX_SAMPLES ${M0}u

		varying vec3 vWorldDirection;

		uniform samplerCube envMap;
		uniform float roughness;
		uniform float lodBias;

		#include <common>

		// Van der Corput radical inverse
		float radicalInverse_VdC( uint bits ) {

			bits = ( bits << 16u ) | ( bits >> 16u );
			bits = ( ( bits & 0x55555555u ) << 1u ) | ( ( bits & 0xAAAAAAAAu ) >> 1u );
			bits = ( ( bits & 0x33333333u ) << 2u ) | ( ( bits & 0xCCCCCCCCu ) >> 2u );
			bits = ( ( bits & 0x0F0F0F0Fu ) << 4u ) | ( ( bits & 0xF0F0F0F0u ) >> 4u );
			bits = ( ( bits & 0x00FF00FFu ) << 8u ) | ( ( bits & 0xFF00FF00u ) >> 8u );
			return float( bits ) * 2.3283064365386963e-10; // / 0x100000000

		}

		// Hammersley sequence
		vec2 hammersley( uint i, uint N ) {

			return vec2( float( i ) / float( N ), radicalInverse_VdC( i ) );

		}

		void main() {

			vec3 N = normalize( vWorldDirection );

			// For very low roughness, just sample the environment directly
			if ( roughness < 0.001 ) {

				gl_FragColor = vec4( textureLod( envMap, N, 0.0 ).rgb, 1.0 );
				return;

			}

			float alpha = roughness * roughness;
			float alpha2 = alpha * alpha;

			// Tangent space basis for VNDF sampling
			vec3 up = abs( N.z ) < 0.999 ? vec3( 0.0, 0.0, 1.0 ) : vec3( 1.0, 0.0, 0.0 );
			vec3 tangent = normalize( cross( up, N ) );
			vec3 bitangent = cross( N, tangent );

			vec3 prefilteredColor = vec3( 0.0 );
			float totalWeight = 0.0;

			for ( uint i = 0u; i < GGX_SAMPLES; i ++ ) {

				vec2 Xi = hammersley( i, GGX_SAMPLES );

				// With V = N, sample the reflected direction directly.
				float invQ = 1.0 / ( 1.0 - Xi.x + alpha2 * Xi.x );
				float NdotL = ( 1.0 - Xi.x - alpha2 * Xi.x ) * invQ;

				if ( NdotL > 0.0 ) {

					float phi = 2.0 * PI * Xi.y;
					float sinTheta = 2.0 * alpha * sqrt( Xi.x * ( 1.0 - Xi.x ) ) * invQ;
					vec3 L = N * NdotL + ( tangent * cos( phi ) + bitangent * sin( phi ) ) * sinTheta;

					// Match the source mip to the sample's solid angle. The terms
					// independent of the sample are precomputed in lodBias.
					float d = alpha2 * invQ;
					float lod = max( log2( d ) + lodBias, 0.0 );

					// Weight by NdotL for the split-sum approximation
					prefilteredColor += textureLod( envMap, L, lod ).rgb * NdotL;
					totalWeight += NdotL;

				}

			}

			gl_FragColor = vec4( prefilteredColor / totalWeight, 1.0 );

		}
	`)}function vb(){return Za("PMREMGGXIntegration",{envMap:{value:null},roughness:{value:0},sourceLod:{value:0},sourceSize:{value:b0}},`

		varying vec3 vWorldDirection;

		uniform samplerCube envMap;
		uniform float roughness;
		uniform float sourceLod;
		uniform int sourceSize;

		void main() {

			vec3 N = normalize( vWorldDirection );

			float alpha = roughness * roughness;
			float alpha2 = alpha * alpha;

			float texelSize = 2.0 / float( sourceSize );

			vec3 prefilteredColor = vec3( 0.0 );
			float totalWeight = 0.0;

			// Pair opposite texels: only the one in N's hemisphere contributes.
			for ( int face = 0; face < 3; face ++ ) {

				for ( int y = 0; y < sourceSize; y ++ ) {

					for ( int x = 0; x < sourceSize; x ++ ) {

						vec2 uv = ( vec2( x, y ) + 0.5 ) * texelSize - 1.0;
						vec3 texelDirection = face == 0 ? vec3( 1.0, uv ) : ( face == 1 ? vec3( uv.x, 1.0, uv.y ) : vec3( uv, 1.0 ) );

						float invDistance = inversesqrt( 1.0 + dot( uv, uv ) );
						float NdotL = dot( N, texelDirection );
						texelDirection *= NdotL < 0.0 ? - 1.0 : 1.0;
						NdotL = abs( NdotL ) * invDistance;

						// With V = N, NdotH squared is ( 1 + NdotL ) / 2. Common factors
						// in the GGX distribution and texel solid angle cancel when normalized.
						float d = 1.0 + alpha2 + ( alpha2 - 1.0 ) * NdotL;
						float weight = NdotL * invDistance * invDistance * invDistance / ( d * d );

						prefilteredColor += textureLod( envMap, texelDirection, sourceLod ).rgb * weight;
						totalWeight += weight;

					}

				}

			}

			gl_FragColor = vec4( prefilteredColor / totalWeight, 1.0 );

		}
	`)}function yb(){return Za("PMREMSphericalGaussianBlur",{envMap:{value:null},sigma:{value:0}},`

		#define SAMPLES ${pb}
		#define GOLDEN_ANGLE 2.39996322973

		varying vec3 vWorldDirection;

		uniform samplerCube envMap;
		uniform float sigma;

		#include <common>

		void main() {

			vec3 outputDirection = normalize( vWorldDirection );

			vec3 up = abs( outputDirection.z ) < 0.999 ? vec3( 0.0, 0.0, 1.0 ) : vec3( 1.0, 0.0, 0.0 );
			vec3 tangent = normalize( cross( up, outputDirection ) );
			vec3 bitangent = cross( outputDirection, tangent );

			// Truncate the kernel at three standard deviations or at the antipode.
			float thetaMax = min( 3.0 * sigma, PI );
			float truncation = 1.0 - exp( - 0.5 * thetaMax * thetaMax / ( sigma * sigma ) );

			vec3 accumColor = vec3( 0.0 );
			float accumWeight = 0.0;

			for ( int i = 0; i < SAMPLES; i ++ ) {

				// Stratified inverse-CDF sampling of the Gaussian, placed on a golden-angle spiral.
				float stratum = ( float( i ) + 0.5 ) / float( SAMPLES );
				float theta = sigma * sqrt( - 2.0 * log( 1.0 - stratum * truncation ) );
				float phi = float( i ) * GOLDEN_ANGLE;

				vec3 offset = cos( phi ) * tangent + sin( phi ) * bitangent;
				vec3 sampleDirection = cos( theta ) * outputDirection + sin( theta ) * offset;

				// Correct the planar sample density to solid angle.
				float weight = sin( theta ) / theta;

				accumColor += weight * textureLod( envMap, sampleDirection, 0.0 ).rgb;
				accumWeight += weight;

			}

			gl_FragColor = vec4( accumColor / accumWeight, 1.0 );

		}
	`)}function e0(){return Za("PMREMEquirectangularToCubemap",{envMap:{value:null}},`

		varying vec3 vWorldDirection;

		uniform sampler2D envMap;

		#include <common>

		void main() {

			// Average four subpixel samples to preserve small, bright features.
			vec3 direction = normalize( vWorldDirection );
			vec3 dx = dFdx( direction ) * 0.25;
			vec3 dy = dFdy( direction ) * 0.25;

			vec3 color = textureLod( envMap, equirectUv( normalize( direction - dx - dy ) ), 0.0 ).rgb;
			color += textureLod( envMap, equirectUv( normalize( direction + dx - dy ) ), 0.0 ).rgb;
			color += textureLod( envMap, equirectUv( normalize( direction - dx + dy ) ), 0.0 ).rgb;
			color += textureLod( envMap, equirectUv( normalize( direction + dx + dy ) ), 0.0 ).rgb;
			gl_FragColor = vec4( color * 0.25, 1.0 );

		}
	`)}function n0(){return Za("PMREMCubemapToCubemap",{envMap:{value:null},flipEnvMap:{value:-1}},`

		varying vec3 vWorldDirection;

		uniform samplerCube envMap;
		uniform float flipEnvMap;

		void main() {

			gl_FragColor = vec4( textureCube( envMap, vec3( flipEnvMap * vWorldDirection.x, vWorldDirection.yz ) ).rgb, 1.0 );

		}
	`)}function Sb(i){let t=new WeakMap,e=new WeakMap,n=null;function s(u,f=!1){return u==null?null:f?o(u):r(u)}function r(u){if(u&&u.isTexture){let f=u.mapping;if(f===Lc||f===Dc)if(t.has(u)){let g=t.get(u).texture;return a(g,u.mapping)}else{let g=u.image;if(g&&g.height>0){let y=new Ya(g.height);return y.fromEquirectangularTexture(i,u),t.set(u,y),u.addEventListener("dispose",c),a(y.texture,u.mapping)}else return null}}return u}function o(u){if(u&&u.isTexture&&u.isPMREMTexture!==!0){let f=u.mapping,g=f===Lc||f===Dc,y=f===_r||f===vo;if(g||y){let m=e.get(u),p=m!==void 0?m.texture.pmremVersion:0;if(u.isRenderTargetTexture&&u.pmremVersion!==p)return n===null&&(n=new Mh(i)),m=g?n.fromEquirectangular(u,m):n.fromCubemap(u,m),m.texture.pmremVersion=u.pmremVersion,e.set(u,m),m.texture;if(m!==void 0)return m.texture;{let v=u.image;return g&&v&&v.height>0||y&&v&&l(v)?(n===null&&(n=new Mh(i)),m=g?n.fromEquirectangular(u):n.fromCubemap(u),m.texture.pmremVersion=u.pmremVersion,e.set(u,m),u.addEventListener("dispose",h),m.texture):null}}}return u}function a(u,f){return f===Lc?u.mapping=_r:f===Dc&&(u.mapping=vo),u}function l(u){let f=0,g=6;for(let y=0;y<g;y++)u[y]!==void 0&&f++;return f===g}function c(u){let f=u.target;f.removeEventListener("dispose",c);let g=t.get(f);g!==void 0&&(t.delete(f),g.dispose())}function h(u){let f=u.target;f.removeEventListener("dispose",h);let g=e.get(f);g!==void 0&&(e.delete(f),g.dispose())}function d(){t=new WeakMap,e=new WeakMap,n!==null&&(n.dispose(),n=null)}return{get:s,dispose:d}}function Mb(i){let t={};function e(n){if(t[n]!==void 0)return t[n];let s=i.getExtension(n);return t[n]=s,s}return{has:function(n){return e(n)!==null},init:function(){e("EXT_color_buffer_float"),e("WEBGL_clip_cull_distance"),e("OES_texture_float_linear"),e("EXT_color_buffer_half_float"),e("WEBGL_multisampled_render_to_texture"),e("WEBGL_render_shared_exponent")},get:function(n){let s=e(n);return s===null&&ea("WebGLRenderer: "+n+" extension not supported."),s}}}function bb(i,t,e,n){let s={},r=new WeakMap,o=new FinalizationRegistry(g=>delete s[g]);function a(g){l(g.target)}function l(g){g.index!==null&&t.remove(g.index);for(let m in g.attributes)t.remove(g.attributes[m]);g.removeEventListener("dispose",a),delete s[g.id],o.unregister(g);let y=r.get(g);y&&(t.remove(y),r.delete(g)),n.releaseStatesOfGeometry(g),g.isInstancedBufferGeometry===!0&&delete g._maxInstanceCount,e.memory.geometries--}function c(g,y){return s[y.id]!==void 0||(y.addEventListener("dispose",a),s[y.id]=new WeakRef(y),o.register(y,y.id,y),e.memory.geometries++),y}function h(g){let y=g.attributes;for(let m in y)t.update(y[m],i.ARRAY_BUFFER)}function d(g){let y=g.index,m=g.attributes.position,p=0;if(m===void 0)return;let v=y!==null?y.array.length:m.array.length/3-1,T=m.count>=65535?fa:da,M=new T(Math.ceil(v/3)*6,1),P=M.array;if(y!==null){let x=y.array;p=y.version;for(let A=0,k=0;A<v;A+=3){let N=x[A+0],D=x[A+1],z=x[A+2];P[k++]=N,P[k++]=D,P[k++]=D,P[k++]=z,P[k++]=z,P[k++]=N}}else{p=m.version;for(let x=0,A=0;x<v;x+=3){let k=x+0,N=x+1,D=x+2;P[A++]=k,P[A++]=N,P[A++]=N,P[A++]=D,P[A++]=D,P[A++]=k}}M.version=p;let E=r.get(g);E&&t.remove(E),r.set(g,M)}function u(g){let y=r.get(g);if(y){let m=g.index;m!==null&&y.version<m.version&&d(g)}else d(g);return r.get(g)}function f(){for(let g in s){let y=s[g].deref();y!==void 0&&l(y)}}return{get:c,update:h,getWireframeAttribute:u,dispose:f}}function wb(i,t,e){let n;function s(d){n=d}let r,o;function a(d){r=d.type,o=d.bytesPerElement}function l(d,u){i.drawElements(n,u,r,d*o),e.update(u,n,1)}function c(d,u,f){f!==0&&(i.drawElementsInstanced(n,u,r,d*o,f),e.update(u,n,f))}function h(d,u,f){if(f===0)return;t.get("WEBGL_multi_draw").multiDrawElementsWEBGL(n,u,0,r,d,0,f);let y=0;for(let m=0;m<f;m++)y+=u[m];e.update(y,n,1)}this.setMode=s,this.setIndex=a,this.render=l,this.renderInstances=c,this.renderMultiDraw=h}function Ab(i){let t={geometries:0,textures:0},e={frame:0,calls:0,triangles:0,points:0,lines:0};function n(r,o,a){switch(e.calls++,o){case i.TRIANGLES:e.triangles+=a*(r/3);break;case i.LINES:e.lines+=a*(r/2);break;case i.LINE_STRIP:e.lines+=a*(r-1);break;case i.LINE_LOOP:e.lines+=a*r;break;case i.POINTS:e.points+=a*r;break;default:Qt("WebGLInfo: Unknown draw mode:",o);break}}function s(){e.calls=0,e.triangles=0,e.points=0,e.lines=0}return{memory:t,render:e,programs:null,autoReset:!0,reset:s,update:n}}function Eb(i,t,e){let n=new WeakMap,s=new Re;function r(o,a,l){let c=o.morphTargetInfluences,h=a.morphAttributes.position||a.morphAttributes.normal||a.morphAttributes.color,d=h!==void 0?h.length:0,u=n.get(a);if(u===void 0||u.count!==d){let k=function(){x.dispose(),n.delete(a),a.removeEventListener("dispose",k)};u!==void 0&&u.texture.dispose();let f=a.morphAttributes.position!==void 0,g=a.morphAttributes.normal!==void 0,y=a.morphAttributes.color!==void 0,m=a.morphAttributes.position||[],p=a.morphAttributes.normal||[],v=a.morphAttributes.color||[],T=0;f===!0&&(T=1),g===!0&&(T=2),y===!0&&(T=3);let M=a.attributes.position.count*T,P=1;M>t.maxTextureSize&&(P=Math.ceil(M/t.maxTextureSize),M=t.maxTextureSize);let E=new Float32Array(M*P*4*d),x=new ca(E,M,P,d);x.type=bi,x.needsUpdate=!0;let A=T*4;for(let N=0;N<d;N++){let D=m[N],z=p[N],H=v[N],L=M*P*4*N;for(let W=0;W<D.count;W++){let Y=W*A;f===!0&&(s.fromBufferAttribute(D,W),E[L+Y+0]=s.x,E[L+Y+1]=s.y,E[L+Y+2]=s.z,E[L+Y+3]=0),g===!0&&(s.fromBufferAttribute(z,W),E[L+Y+4]=s.x,E[L+Y+5]=s.y,E[L+Y+6]=s.z,E[L+Y+7]=0),y===!0&&(s.fromBufferAttribute(H,W),E[L+Y+8]=s.x,E[L+Y+9]=s.y,E[L+Y+10]=s.z,E[L+Y+11]=H.itemSize===4?s.w:1)}}u={count:d,texture:x,size:new Kt(M,P)},n.set(a,u),a.addEventListener("dispose",k)}if(o.isInstancedMesh===!0&&o.morphTexture!==null)l.getUniforms().setValue(i,"morphTexture",o.morphTexture,e);else{let f=0;for(let y=0;y<c.length;y++)f+=c[y];let g=a.morphTargetsRelative?1:1-f;l.getUniforms().setValue(i,"morphTargetBaseInfluence",g),l.getUniforms().setValue(i,"morphTargetInfluences",c)}l.getUniforms().setValue(i,"morphTargetsTexture",u.texture,e),l.getUniforms().setValue(i,"morphTargetsTextureSize",u.size)}return{update:r}}function Tb(i,t,e,n,s){let r=new WeakMap;function o(c){let h=s.render.frame,d=c.geometry,u=t.get(c,d);if(r.get(u)!==h&&(t.update(u),r.set(u,h)),c.isInstancedMesh&&(c.hasEventListener("dispose",l)===!1&&c.addEventListener("dispose",l),r.get(c)!==h&&(e.update(c.instanceMatrix,i.ARRAY_BUFFER),c.instanceColor!==null&&e.update(c.instanceColor,i.ARRAY_BUFFER),r.set(c,h))),c.isSkinnedMesh){let f=c.skeleton;r.get(f)!==h&&(f.update(),r.set(f,h))}return u}function a(){r=new WeakMap}function l(c){let h=c.target;h.removeEventListener("dispose",l),n.releaseStatesOfObject(h),e.remove(h.instanceMatrix),h.instanceColor!==null&&e.remove(h.instanceColor)}return{update:o,dispose:a}}var Cb={[bd]:"LINEAR_TONE_MAPPING",[wd]:"REINHARD_TONE_MAPPING",[Ad]:"CINEON_TONE_MAPPING",[Ed]:"ACES_FILMIC_TONE_MAPPING",[Cd]:"AGX_TONE_MAPPING",[Rd]:"NEUTRAL_TONE_MAPPING",[Td]:"CUSTOM_TONE_MAPPING"};function Rb(i,t,e,n,s,r){let o=new ci(t,e,{type:i,depthBuffer:s,stencilBuffer:r,samples:n?4:0,storeMultisampledDepthBuffer:!1,storeMultisampledStencilBuffer:!1,resolveDepthBuffer:!1,resolveStencilBuffer:!1}),a=null,l=null,c=null,h=new qe;h.setAttribute("position",new Ce([-1,3,0,-1,-1,0,3,-1,0],3)),h.setAttribute("uv",new Ce([0,2,0,0,2,0],2));let d=new _c({uniforms:{tDiffuse:{value:null}},vertexShader:`
			precision highp float;

			uniform mat4 modelViewMatrix;
			uniform mat4 projectionMatrix;

			attribute vec3 position;
			attribute vec2 uv;

			varying vec2 vUv;

			void main() {
				vUv = uv;
				gl_Position = projectionMatrix * modelViewMatrix * vec4( position, 1.0 );
			}`,fragmentShader:`
			precision highp float;

			uniform sampler2D tDiffuse;

			varying vec2 vUv;

			#include <tonemapping_pars_fragment>
			#include <colorspace_pars_fragment>

			void main() {
				gl_FragColor = texture2D( tDiffuse, vUv );

				#ifdef LINEAR_TONE_MAPPING
					gl_FragColor.rgb = LinearToneMapping( gl_FragColor.rgb );
				#elif defined( REINHARD_TONE_MAPPING )
					gl_FragColor.rgb = ReinhardToneMapping( gl_FragColor.rgb );
				#elif defined( CINEON_TONE_MAPPING )
					gl_FragColor.rgb = CineonToneMapping( gl_FragColor.rgb );
				#elif defined( ACES_FILMIC_TONE_MAPPING )
					gl_FragColor.rgb = ACESFilmicToneMapping( gl_FragColor.rgb );
				#elif defined( AGX_TONE_MAPPING )
					gl_FragColor.rgb = AgXToneMapping( gl_FragColor.rgb );
				#elif defined( NEUTRAL_TONE_MAPPING )
					gl_FragColor.rgb = NeutralToneMapping( gl_FragColor.rgb );
				#elif defined( CUSTOM_TONE_MAPPING )
					gl_FragColor.rgb = CustomToneMapping( gl_FragColor.rgb );
				#endif

				#ifdef SRGB_TRANSFER
					gl_FragColor = sRGBTransferOETF( gl_FragColor );
				#endif
			}`,depthTest:!1,depthWrite:!1}),u=new xe(h,d),f=new La(-1,1,1,-1,0,1),g=null,y=null,m=!1,p,v=null,T=[],M=!1;this.setSize=function(P,E){o.setSize(P,E),a!==null&&a.setSize(P,E),l!==null&&l.setSize(P,E);for(let x=0;x<T.length;x++){let A=T[x];A.setSize&&A.setSize(P,E)}},this.setEffects=function(P){T=P,M=T.length>0&&T[0].isRenderPass===!0;let E=o.width,x=o.height;T.length>0&&a===null&&(a=new ci(E,x,{type:Bi,depthBuffer:!1,stencilBuffer:!1}),l=new ci(E,x,{type:Bi,depthBuffer:!1,stencilBuffer:!1}));let A=s===!0&&T.some(k=>k.needsDepthTexture===!0);A!==(o.depthTexture!==null)&&(A===!0&&c===null&&(c=new Ss(E,x),r===!0&&(c.format=bs,c.type=xr)),o.dispose(),o.depthTexture=A?c:null,o.resolveDepthBuffer=A,o.storeMultisampledDepthBuffer=A);for(let k=0;k<T.length;k++){let N=T[k];N.setSize&&N.setSize(E,x),A&&N.needsDepthTexture===!0&&N.setDepthTexture&&N.setDepthTexture(c)}},this.begin=function(P,E){if(m||P.toneMapping===Qi&&T.length===0)return!1;if(v=E,E!==null){let x=E.width,A=E.height;(o.width!==x||o.height!==A)&&this.setSize(x,A)}return M===!1&&P.setRenderTarget(o),p=P.toneMapping,P.toneMapping=Qi,!0},this.hasRenderPass=function(){return M},this.end=function(P,E){P.toneMapping=p,m=!0;let x=o,A=a;for(let k=0;k<T.length;k++){let N=T[k];N.enabled!==!1&&(N.render(P,A,x,E),N.needsSwap!==!1&&(x=A,A=A===a?l:a))}if(g!==P.outputColorSpace||y!==P.toneMapping){g=P.outputColorSpace,y=P.toneMapping,d.defines={},_e.getTransfer(g)===Te&&(d.defines.SRGB_TRANSFER="");let k=Cb[y];k&&(d.defines[k]=""),d.needsUpdate=!0}d.uniforms.tDiffuse.value=x.texture,P.setRenderTarget(v),P.render(u,f),v=null,m=!1},this.isCompositing=function(){return m},this.dispose=function(){o.dispose(),a!==null&&a.dispose(),l!==null&&l.dispose(),h.dispose(),d.dispose()}}var w0=new Kn,A0=new Ss(1,1),E0=new ya(1),T0=new ca,C0=new uc,R0=new va,i0=[],s0=[],r0=new Float32Array(16),o0=new Float32Array(9),a0=new Float32Array(4);function Mo(i,t,e){let n=i[0];if(n<=0||n>0)return i;let s=t*e,r=i0[s];if(r===void 0&&(r=new Float32Array(s),i0[s]=r),t!==0){n.toArray(r,0);for(let o=1,a=0;o!==t;++o)a+=e,i[o].toArray(r,a)}return r}function gn(i,t){if(i.length!==t.length)return!1;for(let e=0,n=i.length;e<n;e++)if(i[e]!==t[e])return!1;return!0}function _n(i,t){for(let e=0,n=t.length;e<n;e++)i[e]=t[e]}function wh(i,t){let e=s0[t];e===void 0&&(e=new Int32Array(t),s0[t]=e);for(let n=0;n!==t;++n)e[n]=i.allocateTextureUnit();return e}function Pb(i,t){let e=this.cache;e[0]!==t&&(i.uniform1f(this.addr,t),e[0]=t)}function Ib(i,t){let e=this.cache;if(t.x!==void 0)(e[0]!==t.x||e[1]!==t.y)&&(i.uniform2f(this.addr,t.x,t.y),e[0]=t.x,e[1]=t.y);else{if(gn(e,t))return;i.uniform2fv(this.addr,t),_n(e,t)}}function Lb(i,t){let e=this.cache;if(t.x!==void 0)(e[0]!==t.x||e[1]!==t.y||e[2]!==t.z)&&(i.uniform3f(this.addr,t.x,t.y,t.z),e[0]=t.x,e[1]=t.y,e[2]=t.z);else if(t.r!==void 0)(e[0]!==t.r||e[1]!==t.g||e[2]!==t.b)&&(i.uniform3f(this.addr,t.r,t.g,t.b),e[0]=t.r,e[1]=t.g,e[2]=t.b);else{if(gn(e,t))return;i.uniform3fv(this.addr,t),_n(e,t)}}function Db(i,t){let e=this.cache;if(t.x!==void 0)(e[0]!==t.x||e[1]!==t.y||e[2]!==t.z||e[3]!==t.w)&&(i.uniform4f(this.addr,t.x,t.y,t.z,t.w),e[0]=t.x,e[1]=t.y,e[2]=t.z,e[3]=t.w);else{if(gn(e,t))return;i.uniform4fv(this.addr,t),_n(e,t)}}function Nb(i,t){let e=this.cache,n=t.elements;if(n===void 0){if(gn(e,t))return;i.uniformMatrix2fv(this.addr,!1,t),_n(e,t)}else{if(gn(e,n))return;a0.set(n),i.uniformMatrix2fv(this.addr,!1,a0),_n(e,n)}}function Ub(i,t){let e=this.cache,n=t.elements;if(n===void 0){if(gn(e,t))return;i.uniformMatrix3fv(this.addr,!1,t),_n(e,t)}else{if(gn(e,n))return;o0.set(n),i.uniformMatrix3fv(this.addr,!1,o0),_n(e,n)}}function Fb(i,t){let e=this.cache,n=t.elements;if(n===void 0){if(gn(e,t))return;i.uniformMatrix4fv(this.addr,!1,t),_n(e,t)}else{if(gn(e,n))return;r0.set(n),i.uniformMatrix4fv(this.addr,!1,r0),_n(e,n)}}function Ob(i,t){let e=this.cache;e[0]!==t&&(i.uniform1i(this.addr,t),e[0]=t)}function Bb(i,t){let e=this.cache;if(t.x!==void 0)(e[0]!==t.x||e[1]!==t.y)&&(i.uniform2i(this.addr,t.x,t.y),e[0]=t.x,e[1]=t.y);else{if(gn(e,t))return;i.uniform2iv(this.addr,t),_n(e,t)}}function kb(i,t){let e=this.cache;if(t.x!==void 0)(e[0]!==t.x||e[1]!==t.y||e[2]!==t.z)&&(i.uniform3i(this.addr,t.x,t.y,t.z),e[0]=t.x,e[1]=t.y,e[2]=t.z);else{if(gn(e,t))return;i.uniform3iv(this.addr,t),_n(e,t)}}function zb(i,t){let e=this.cache;if(t.x!==void 0)(e[0]!==t.x||e[1]!==t.y||e[2]!==t.z||e[3]!==t.w)&&(i.uniform4i(this.addr,t.x,t.y,t.z,t.w),e[0]=t.x,e[1]=t.y,e[2]=t.z,e[3]=t.w);else{if(gn(e,t))return;i.uniform4iv(this.addr,t),_n(e,t)}}function Vb(i,t){let e=this.cache;e[0]!==t&&(i.uniform1ui(this.addr,t),e[0]=t)}function Gb(i,t){let e=this.cache;if(t.x!==void 0)(e[0]!==t.x||e[1]!==t.y)&&(i.uniform2ui(this.addr,t.x,t.y),e[0]=t.x,e[1]=t.y);else{if(gn(e,t))return;i.uniform2uiv(this.addr,t),_n(e,t)}}function Hb(i,t){let e=this.cache;if(t.x!==void 0)(e[0]!==t.x||e[1]!==t.y||e[2]!==t.z)&&(i.uniform3ui(this.addr,t.x,t.y,t.z),e[0]=t.x,e[1]=t.y,e[2]=t.z);else{if(gn(e,t))return;i.uniform3uiv(this.addr,t),_n(e,t)}}function Wb(i,t){let e=this.cache;if(t.x!==void 0)(e[0]!==t.x||e[1]!==t.y||e[2]!==t.z||e[3]!==t.w)&&(i.uniform4ui(this.addr,t.x,t.y,t.z,t.w),e[0]=t.x,e[1]=t.y,e[2]=t.z,e[3]=t.w);else{if(gn(e,t))return;i.uniform4uiv(this.addr,t),_n(e,t)}}function Ah(i){return i.version===0&&(i.compareFunction=kd,i.needsUpdate=!0),i}function Xb(i,t,e){let n=this.cache,s=e.allocateTextureUnit();n[0]!==s&&(i.uniform1i(this.addr,s),n[0]=s);let r;this.type===i.SAMPLER_2D_SHADOW?r=Ah(A0):r=w0,e.setTexture2D(t||r,s)}function qb(i,t,e){let n=this.cache,s=e.allocateTextureUnit();n[0]!==s&&(i.uniform1i(this.addr,s),n[0]=s),e.setTexture3D(t||C0,s)}function Yb(i,t,e){let n=this.cache,s=e.allocateTextureUnit();n[0]!==s&&(i.uniform1i(this.addr,s),n[0]=s);let r;this.type===i.SAMPLER_CUBE_SHADOW?r=Ah(E0):r=R0,e.setTextureCube(t||r,s)}function Zb(i,t,e){let n=this.cache,s=e.allocateTextureUnit();n[0]!==s&&(i.uniform1i(this.addr,s),n[0]=s),e.setTexture2DArray(t||T0,s)}function Jb(i){switch(i){case 5126:return Pb;case 35664:return Ib;case 35665:return Lb;case 35666:return Db;case 35674:return Nb;case 35675:return Ub;case 35676:return Fb;case 5124:case 35670:return Ob;case 35667:case 35671:return Bb;case 35668:case 35672:return kb;case 35669:case 35673:return zb;case 5125:return Vb;case 36294:return Gb;case 36295:return Hb;case 36296:return Wb;case 35678:case 36198:case 36298:case 36306:case 35682:return Xb;case 35679:case 36299:case 36307:return qb;case 35680:case 36300:case 36308:case 36293:return Yb;case 36289:case 36303:case 36311:case 36292:return Zb}}function $b(i,t){i.uniform1fv(this.addr,t)}function Kb(i,t){let e=Mo(t,this.size,2);i.uniform2fv(this.addr,e)}function jb(i,t){let e=Mo(t,this.size,3);i.uniform3fv(this.addr,e)}function Qb(i,t){let e=Mo(t,this.size,4);i.uniform4fv(this.addr,e)}function tw(i,t){let e=Mo(t,this.size,4);i.uniformMatrix2fv(this.addr,!1,e)}function ew(i,t){let e=Mo(t,this.size,9);i.uniformMatrix3fv(this.addr,!1,e)}function nw(i,t){let e=Mo(t,this.size,16);i.uniformMatrix4fv(this.addr,!1,e)}function iw(i,t){i.uniform1iv(this.addr,t)}function sw(i,t){i.uniform2iv(this.addr,t)}function rw(i,t){i.uniform3iv(this.addr,t)}function ow(i,t){i.uniform4iv(this.addr,t)}function aw(i,t){i.uniform1uiv(this.addr,t)}function lw(i,t){i.uniform2uiv(this.addr,t)}function cw(i,t){i.uniform3uiv(this.addr,t)}function hw(i,t){i.uniform4uiv(this.addr,t)}function uw(i,t,e){let n=this.cache,s=t.length,r=wh(e,s);gn(n,r)||(i.uniform1iv(this.addr,r),_n(n,r));let o;this.type===i.SAMPLER_2D_SHADOW?o=Ah(A0):o=w0;for(let a=0;a!==s;++a)e.setTexture2D(t[a]||o,r[a])}function dw(i,t,e){let n=this.cache,s=t.length,r=wh(e,s);gn(n,r)||(i.uniform1iv(this.addr,r),_n(n,r));for(let o=0;o!==s;++o)e.setTexture3D(t[o]||C0,r[o])}function fw(i,t,e){let n=this.cache,s=t.length,r=wh(e,s);gn(n,r)||(i.uniform1iv(this.addr,r),_n(n,r));let o;this.type===i.SAMPLER_CUBE_SHADOW?o=Ah(E0):o=R0;for(let a=0;a!==s;++a)e.setTextureCube(t[a]||o,r[a])}function pw(i,t,e){let n=this.cache,s=t.length,r=wh(e,s);gn(n,r)||(i.uniform1iv(this.addr,r),_n(n,r));for(let o=0;o!==s;++o)e.setTexture2DArray(t[o]||T0,r[o])}function mw(i){switch(i){case 5126:return $b;case 35664:return Kb;case 35665:return jb;case 35666:return Qb;case 35674:return tw;case 35675:return ew;case 35676:return nw;case 5124:case 35670:return iw;case 35667:case 35671:return sw;case 35668:case 35672:return rw;case 35669:case 35673:return ow;case 5125:return aw;case 36294:return lw;case 36295:return cw;case 36296:return hw;case 35678:case 36198:case 36298:case 36306:case 35682:return uw;case 35679:case 36299:case 36307:return dw;case 35680:case 36300:case 36308:case 36293:return fw;case 36289:case 36303:case 36311:case 36292:return pw}}var Qd=class{constructor(t,e,n){this.id=t,this.addr=n,this.cache=[],this.type=e.type,this.setValue=Jb(e.type)}},tf=class{constructor(t,e,n){this.id=t,this.addr=n,this.cache=[],this.type=e.type,this.size=e.size,this.setValue=mw(e.type)}},ef=class{constructor(t){this.id=t,this.seq=[],this.map={}}setValue(t,e,n){let s=this.seq;for(let r=0,o=s.length;r!==o;++r){let a=s[r];a.setValue(t,e[a.id],n)}}},Kd=/(\w+)(\])?(\[|\.)?/g;function l0(i,t){i.seq.push(t),i.map[t.id]=t}function gw(i,t,e){let n=i.name,s=n.length;for(Kd.lastIndex=0;;){let r=Kd.exec(n),o=Kd.lastIndex,a=r[1],l=r[2]==="]",c=r[3];if(l&&(a=a|0),c===void 0||c==="["&&o+2===s){l0(e,c===void 0?new Qd(a,i,t):new tf(a,i,t));break}else{let d=e.map[a];d===void 0&&(d=new ef(a),l0(e,d)),e=d}}}var So=class{constructor(t,e){this.seq=[],this.map={};let n=t.getProgramParameter(e,t.ACTIVE_UNIFORMS);for(let o=0;o<n;++o){let a=t.getActiveUniform(e,o),l=t.getUniformLocation(e,a.name);gw(a,l,this)}let s=[],r=[];for(let o of this.seq)o.type===t.SAMPLER_2D_SHADOW||o.type===t.SAMPLER_CUBE_SHADOW||o.type===t.SAMPLER_2D_ARRAY_SHADOW?s.push(o):r.push(o);s.length>0&&(this.seq=s.concat(r))}setValue(t,e,n,s){let r=this.map[e];r!==void 0&&r.setValue(t,n,s)}setOptional(t,e,n){let s=e[n];s!==void 0&&this.setValue(t,n,s)}static upload(t,e,n,s){for(let r=0,o=e.length;r!==o;++r){let a=e[r],l=n[a.id];l.needsUpdate!==!1&&a.setValue(t,l.value,s)}}static seqWithValue(t,e){let n=[];for(let s=0,r=t.length;s!==r;++s){let o=t[s];o.id in e&&n.push(o)}return n}};function c0(i,t,e){let n=i.createShader(t);return i.shaderSource(n,e),i.compileShader(n),n}var _w=37297,xw=0;function vw(i,t){let e=i.split(`
`),n=[],s=Math.max(t-6,0),r=Math.min(t+6,e.length);for(let o=s;o<r;o++){let a=o+1;n.push(`${a===t?">":" "} ${a}: ${e[o]}`)}return n.join(`
`)}var h0=new te;function yw(i){_e._getMatrix(h0,_e.workingColorSpace,i);let t=`mat3( ${h0.elements.map(e=>e.toFixed(4))} )`;switch(_e.getTransfer(i)){case oa:return[t,"LinearTransferOETF"];case Te:return[t,"sRGBTransferOETF"];default:return qt("WebGLProgram: Unsupported color space: ",i),[t,"LinearTransferOETF"]}}function u0(i,t,e){let n=i.getShaderParameter(t,i.COMPILE_STATUS),r=(i.getShaderInfoLog(t)||"").trim();if(n&&r==="")return"";let o=/ERROR: 0:(\d+)/.exec(r);if(o){let a=parseInt(o[1]);return e.toUpperCase()+`

`+r+`

`+vw(i.getShaderSource(t),a)}else return r}function Sw(i,t){let e=yw(t);return[`vec4 ${i}( vec4 value ) {`,`	return ${e[1]}( vec4( ${e[0]} * value.rgb, value.a ) );`,"}"].join(`
`)}var Mw={[bd]:"Linear",[wd]:"Reinhard",[Ad]:"Cineon",[Ed]:"ACESFilmic",[Cd]:"AgX",[Rd]:"Neutral",[Td]:"Custom"};function bw(i,t){let e=Mw[t];return e===void 0?(qt("WebGLProgram: Unsupported toneMapping:",t),"vec3 "+i+"( vec3 color ) { return LinearToneMapping( color ); }"):"vec3 "+i+"( vec3 color ) { return "+e+"ToneMapping( color ); }"}var Sh=new O;function ww(){_e.getLuminanceCoefficients(Sh);let i=Sh.x.toFixed(4),t=Sh.y.toFixed(4),e=Sh.z.toFixed(4);return["float luminance( const in vec3 rgb ) {",`	const vec3 weights = vec3( ${i}, ${t}, ${e} );`,"	return dot( weights, rgb );","}"].join(`
`)}function Aw(i){return[i.extensionClipCullDistance?"#extension GL_ANGLE_clip_cull_distance : require":"",i.extensionMultiDraw?"#extension GL_ANGLE_multi_draw : require":""].filter(qa).join(`
`)}function Ew(i){let t=[];for(let e in i){let n=i[e];n!==!1&&t.push("#define "+e+" "+n)}return t.join(`
`)}function Tw(i,t){let e={},n=i.getProgramParameter(t,i.ACTIVE_ATTRIBUTES);for(let s=0;s<n;s++){let r=i.getActiveAttrib(t,s),o=r.name,a=1;r.type===i.FLOAT_MAT2&&(a=2),r.type===i.FLOAT_MAT3&&(a=3),r.type===i.FLOAT_MAT4&&(a=4),e[o]={type:r.type,location:i.getAttribLocation(t,o),locationSize:a}}return e}function qa(i){return i!==""}function d0(i,t){let e=t.numSpotLightShadows+t.numSpotLightMaps-t.numSpotLightShadowsWithMaps;return i.replace(/NUM_SUN_LIGHTS/g,t.numSunLights).replace(/NUM_DIR_LIGHTS/g,t.numDirLights).replace(/NUM_SPOT_LIGHTS/g,t.numSpotLights).replace(/NUM_SPOT_LIGHT_MAPS/g,t.numSpotLightMaps).replace(/NUM_SPOT_LIGHT_COORDS/g,e).replace(/NUM_RECT_AREA_LIGHTS/g,t.numRectAreaLights).replace(/NUM_POINT_LIGHTS/g,t.numPointLights).replace(/NUM_HEMI_LIGHTS/g,t.numHemiLights).replace(/NUM_SUN_LIGHT_SHADOWS/g,t.numSunLightShadows).replace(/NUM_DIR_LIGHT_SHADOWS/g,t.numDirLightShadows).replace(/NUM_SPOT_LIGHT_SHADOWS_WITH_MAPS/g,t.numSpotLightShadowsWithMaps).replace(/NUM_SPOT_LIGHT_SHADOWS/g,t.numSpotLightShadows).replace(/NUM_POINT_LIGHT_SHADOWS/g,t.numPointLightShadows).replace(/NUM_LIGHT_PROBE_GRIDS/g,t.numLightProbeGrids)}function f0(i,t){return i.replace(/NUM_CLIPPING_PLANES/g,t.numClippingPlanes).replace(/UNION_CLIPPING_PLANES/g,t.numClippingPlanes-t.numClipIntersection)}var Cw=/^[ \t]*#include +<([\w\d./]+)>/gm;function nf(i){return i.replace(Cw,Rw)}function Rw(i,t){let e=he[t];if(e===void 0)throw new Error("THREE.WebGLProgram: Can not resolve #include <"+t+">");return nf(e)}var Pw=/#pragma unroll_loop_start\s+for\s*\(\s*int\s+i\s*=\s*(\d+)\s*;\s*i\s*<\s*(\d+)\s*;\s*i\s*\+\+\s*\)\s*{([\s\S]+?)}\s+#pragma unroll_loop_end/g;function p0(i){return i.replace(Pw,Iw)}function Iw(i,t,e,n){let s="";for(let r=parseInt(t);r<parseInt(e);r++)s+=n.replace(/\[\s*i\s*\]/g,"[ "+r+" ]").replace(/UNROLLED_LOOP_INDEX/g,r);return s}function m0(i){let t=`precision ${i.precision} float;
	precision ${i.precision} int;
	precision ${i.precision} sampler2D;
	precision ${i.precision} samplerCube;
	precision ${i.precision} sampler3D;
	precision ${i.precision} sampler2DArray;
	precision ${i.precision} sampler2DShadow;
	precision ${i.precision} samplerCubeShadow;
	precision ${i.precision} sampler2DArrayShadow;
	precision ${i.precision} isampler2D;
	precision ${i.precision} isampler3D;
	precision ${i.precision} isamplerCube;
	precision ${i.precision} isampler2DArray;
	precision ${i.precision} usampler2D;
	precision ${i.precision} usampler3D;
	precision ${i.precision} usamplerCube;
	precision ${i.precision} usampler2DArray;
	`;return i.precision==="highp"?t+=`
#define HIGH_PRECISION`:i.precision==="mediump"?t+=`
#define MEDIUM_PRECISION`:i.precision==="lowp"&&(t+=`
#define LOW_PRECISION`),t}var Lw={[Fa]:"SHADOWMAP_TYPE_PCF",[_o]:"SHADOWMAP_TYPE_VSM"};function Dw(i){return Lw[i.shadowMapType]||"SHADOWMAP_TYPE_BASIC"}var Nw={[vo]:"ENVMAP_MODE_REFRACTION"};function Uw(i){return i.envMap===!1?"ENVMAP_MODE_REFLECTION":Nw[i.envMapMode]||"ENVMAP_MODE_REFLECTION"}var Fw={[Md]:"ENVMAP_BLENDING_MULTIPLY",[Ug]:"ENVMAP_BLENDING_MIX",[Fg]:"ENVMAP_BLENDING_ADD"};function Ow(i){return i.envMap===!1?"ENVMAP_BLENDING_NONE":Fw[i.combine]||"ENVMAP_BLENDING_NONE"}function Bw(i,t,e,n){let s=i.getContext(),r=e.defines,o=e.vertexShader,a=e.fragmentShader,l=Dw(e),c=e.envMapPMREM===!0?"ENVMAP_TYPE_PMREM":"ENVMAP_TYPE_CUBE",h=Uw(e),d=Ow(e),u=Aw(e),f=Ew(r),g=s.createProgram(),y,m,p=e.glslVersion?"#version "+e.glslVersion+`
`:"";e.isRawShaderMaterial?(y=["#define SHADER_TYPE "+e.shaderType,"#define SHADER_NAME "+e.shaderName,f].filter(qa).join(`
`),y.length>0&&(y+=`
`),m=["#define SHADER_TYPE "+e.shaderType,"#define SHADER_NAME "+e.shaderName,f].filter(qa).join(`
`),m.length>0&&(m+=`
`)):(y=[m0(e),"#define SHADER_TYPE "+e.shaderType,"#define SHADER_NAME "+e.shaderName,f,e.extensionClipCullDistance?"#define USE_CLIP_DISTANCE":"",e.batching?"#define USE_BATCHING":"",e.batchingColor?"#define USE_BATCHING_COLOR":"",e.instancing?"#define USE_INSTANCING":"",e.instancingColor?"#define USE_INSTANCING_COLOR":"",e.instancingMorph?"#define USE_INSTANCING_MORPH":"",e.useFog&&e.fog?"#define USE_FOG":"",e.useFog&&e.fogExp2?"#define FOG_EXP2":"",e.map?"#define USE_MAP":"",e.envMap?"#define USE_ENVMAP":"",e.envMap?"#define "+h:"",e.lightMap?"#define USE_LIGHTMAP":"",e.aoMap?"#define USE_AOMAP":"",e.bumpMap?"#define USE_BUMPMAP":"",e.normalMap?"#define USE_NORMALMAP":"",e.normalMapObjectSpace?"#define USE_NORMALMAP_OBJECTSPACE":"",e.normalMapTangentSpace?"#define USE_NORMALMAP_TANGENTSPACE":"",e.displacementMap?"#define USE_DISPLACEMENTMAP":"",e.emissiveMap?"#define USE_EMISSIVEMAP":"",e.anisotropy?"#define USE_ANISOTROPY":"",e.anisotropyMap?"#define USE_ANISOTROPYMAP":"",e.clearcoatMap?"#define USE_CLEARCOATMAP":"",e.clearcoatRoughnessMap?"#define USE_CLEARCOAT_ROUGHNESSMAP":"",e.clearcoatNormalMap?"#define USE_CLEARCOAT_NORMALMAP":"",e.diffuseRoughnessMap?"#define USE_DIFFUSE_ROUGHNESSMAP":"",e.iridescenceMap?"#define USE_IRIDESCENCEMAP":"",e.iridescenceThicknessMap?"#define USE_IRIDESCENCE_THICKNESSMAP":"",e.specularMap?"#define USE_SPECULARMAP":"",e.specularColorMap?"#define USE_SPECULAR_COLORMAP":"",e.specularIntensityMap?"#define USE_SPECULAR_INTENSITYMAP":"",e.roughnessMap?"#define USE_ROUGHNESSMAP":"",e.metalnessMap?"#define USE_METALNESSMAP":"",e.alphaMap?"#define USE_ALPHAMAP":"",e.alphaHash?"#define USE_ALPHAHASH":"",e.transmission?"#define USE_TRANSMISSION":"",e.transmissionMap?"#define USE_TRANSMISSIONMAP":"",e.thicknessMap?"#define USE_THICKNESSMAP":"",e.sheenColorMap?"#define USE_SHEEN_COLORMAP":"",e.sheenRoughnessMap?"#define USE_SHEEN_ROUGHNESSMAP":"",e.mapUv?"#define MAP_UV "+e.mapUv:"",e.alphaMapUv?"#define ALPHAMAP_UV "+e.alphaMapUv:"",e.lightMapUv?"#define LIGHTMAP_UV "+e.lightMapUv:"",e.aoMapUv?"#define AOMAP_UV "+e.aoMapUv:"",e.emissiveMapUv?"#define EMISSIVEMAP_UV "+e.emissiveMapUv:"",e.bumpMapUv?"#define BUMPMAP_UV "+e.bumpMapUv:"",e.normalMapUv?"#define NORMALMAP_UV "+e.normalMapUv:"",e.displacementMapUv?"#define DISPLACEMENTMAP_UV "+e.displacementMapUv:"",e.metalnessMapUv?"#define METALNESSMAP_UV "+e.metalnessMapUv:"",e.roughnessMapUv?"#define ROUGHNESSMAP_UV "+e.roughnessMapUv:"",e.anisotropyMapUv?"#define ANISOTROPYMAP_UV "+e.anisotropyMapUv:"",e.clearcoatMapUv?"#define CLEARCOATMAP_UV "+e.clearcoatMapUv:"",e.clearcoatNormalMapUv?"#define CLEARCOAT_NORMALMAP_UV "+e.clearcoatNormalMapUv:"",e.clearcoatRoughnessMapUv?"#define CLEARCOAT_ROUGHNESSMAP_UV "+e.clearcoatRoughnessMapUv:"",e.diffuseRoughnessMapUv?"#define DIFFUSE_ROUGHNESSMAP_UV "+e.diffuseRoughnessMapUv:"",e.iridescenceMapUv?"#define IRIDESCENCEMAP_UV "+e.iridescenceMapUv:"",e.iridescenceThicknessMapUv?"#define IRIDESCENCE_THICKNESSMAP_UV "+e.iridescenceThicknessMapUv:"",e.sheenColorMapUv?"#define SHEEN_COLORMAP_UV "+e.sheenColorMapUv:"",e.sheenRoughnessMapUv?"#define SHEEN_ROUGHNESSMAP_UV "+e.sheenRoughnessMapUv:"",e.specularMapUv?"#define SPECULARMAP_UV "+e.specularMapUv:"",e.specularColorMapUv?"#define SPECULAR_COLORMAP_UV "+e.specularColorMapUv:"",e.specularIntensityMapUv?"#define SPECULAR_INTENSITYMAP_UV "+e.specularIntensityMapUv:"",e.transmissionMapUv?"#define TRANSMISSIONMAP_UV "+e.transmissionMapUv:"",e.thicknessMapUv?"#define THICKNESSMAP_UV "+e.thicknessMapUv:"",e.vertexTangents&&e.flatShading===!1?"#define USE_TANGENT":"",e.vertexNormals?"#define HAS_NORMAL":"",e.vertexColors?"#define USE_COLOR":"",e.vertexAlphas?"#define USE_COLOR_ALPHA":"",e.vertexUv1s?"#define USE_UV1":"",e.vertexUv2s?"#define USE_UV2":"",e.vertexUv3s?"#define USE_UV3":"",e.pointsUvs?"#define USE_POINTS_UV":"",e.flatShading?"#define FLAT_SHADED":"",e.skinning?"#define USE_SKINNING":"",e.morphTargets?"#define USE_MORPHTARGETS":"",e.morphNormals&&e.flatShading===!1?"#define USE_MORPHNORMALS":"",e.morphColors?"#define USE_MORPHCOLORS":"",e.morphTargetsCount>0?"#define MORPHTARGETS_TEXTURE_STRIDE "+e.morphTextureStride:"",e.morphTargetsCount>0?"#define MORPHTARGETS_COUNT "+e.morphTargetsCount:"",e.doubleSided?"#define DOUBLE_SIDED":"",e.flipSided?"#define FLIP_SIDED":"",e.shadowMapEnabled?"#define USE_SHADOWMAP":"",e.shadowMapEnabled?"#define "+l:"",e.sizeAttenuation?"#define USE_SIZEATTENUATION":"",e.numLightProbes>0?"#define USE_LIGHT_PROBES":"",e.logarithmicDepthBuffer?"#define USE_LOGARITHMIC_DEPTH_BUFFER":"",e.reversedDepthBuffer?"#define USE_REVERSED_DEPTH_BUFFER":"","uniform mat4 modelMatrix;","uniform mat4 modelViewMatrix;","uniform mat4 projectionMatrix;","uniform mat4 viewMatrix;","uniform mat3 normalMatrix;","uniform vec3 cameraPosition;","uniform bool isOrthographic;","#ifdef USE_INSTANCING","	attribute mat4 instanceMatrix;","#endif","#ifdef USE_INSTANCING_COLOR","	attribute vec3 instanceColor;","#endif","#ifdef USE_INSTANCING_MORPH","	uniform sampler2D morphTexture;","#endif","attribute vec3 position;","attribute vec3 normal;","attribute vec2 uv;","#ifdef USE_UV1","	attribute vec2 uv1;","#endif","#ifdef USE_UV2","	attribute vec2 uv2;","#endif","#ifdef USE_UV3","	attribute vec2 uv3;","#endif","#ifdef USE_TANGENT","	attribute vec4 tangent;","#endif","#if defined( USE_COLOR_ALPHA )","	attribute vec4 color;","#elif defined( USE_COLOR )","	attribute vec3 color;","#endif","#ifdef USE_SKINNING","	attribute vec4 skinIndex;","	attribute vec4 skinWeight;","#endif",`
`].filter(qa).join(`
`),m=[m0(e),"#define SHADER_TYPE "+e.shaderType,"#define SHADER_NAME "+e.shaderName,f,e.useFog&&e.fog?"#define USE_FOG":"",e.useFog&&e.fogExp2?"#define FOG_EXP2":"",e.alphaToCoverage?"#define ALPHA_TO_COVERAGE":"",e.map?"#define USE_MAP":"",e.matcap?"#define USE_MATCAP":"",e.envMap?"#define USE_ENVMAP":"",e.envMap?"#define "+c:"",e.envMap?"#define "+h:"",e.envMap?"#define "+d:"",e.envMapPMREM?"#define ENVMAP_MAX_LOD "+e.envMapMaxLod+".0":"",e.envMapPMREM?"#define ENVMAP_SIZE "+e.envMapSize+".0":"",e.lightMap?"#define USE_LIGHTMAP":"",e.aoMap?"#define USE_AOMAP":"",e.bumpMap?"#define USE_BUMPMAP":"",e.normalMap?"#define USE_NORMALMAP":"",e.normalMapObjectSpace?"#define USE_NORMALMAP_OBJECTSPACE":"",e.normalMapTangentSpace?"#define USE_NORMALMAP_TANGENTSPACE":"",e.packedNormalMap?"#define USE_PACKED_NORMALMAP":"",e.emissiveMap?"#define USE_EMISSIVEMAP":"",e.anisotropy?"#define USE_ANISOTROPY":"",e.anisotropyMap?"#define USE_ANISOTROPYMAP":"",e.clearcoat?"#define USE_CLEARCOAT":"",e.clearcoatMap?"#define USE_CLEARCOATMAP":"",e.clearcoatRoughnessMap?"#define USE_CLEARCOAT_ROUGHNESSMAP":"",e.clearcoatNormalMap?"#define USE_CLEARCOAT_NORMALMAP":"",e.diffuseRoughness?"#define USE_DIFFUSE_ROUGHNESS":"",e.diffuseRoughnessMap?"#define USE_DIFFUSE_ROUGHNESSMAP":"",e.dispersion?"#define USE_DISPERSION":"",e.retroreflection?"#define USE_RETROREFLECTION":"",e.iridescence?"#define USE_IRIDESCENCE":"",e.iridescenceMap?"#define USE_IRIDESCENCEMAP":"",e.iridescenceThicknessMap?"#define USE_IRIDESCENCE_THICKNESSMAP":"",e.specularMap?"#define USE_SPECULARMAP":"",e.specularColorMap?"#define USE_SPECULAR_COLORMAP":"",e.specularIntensityMap?"#define USE_SPECULAR_INTENSITYMAP":"",e.roughnessMap?"#define USE_ROUGHNESSMAP":"",e.metalnessMap?"#define USE_METALNESSMAP":"",e.alphaMap?"#define USE_ALPHAMAP":"",e.alphaTest?"#define USE_ALPHATEST":"",e.alphaHash?"#define USE_ALPHAHASH":"",e.sheen?"#define USE_SHEEN":"",e.sheenColorMap?"#define USE_SHEEN_COLORMAP":"",e.sheenRoughnessMap?"#define USE_SHEEN_ROUGHNESSMAP":"",e.transmission?"#define USE_TRANSMISSION":"",e.transmissionMap?"#define USE_TRANSMISSIONMAP":"",e.thicknessMap?"#define USE_THICKNESSMAP":"",e.vertexTangents&&e.flatShading===!1?"#define USE_TANGENT":"",e.vertexColors||e.instancingColor?"#define USE_COLOR":"",e.vertexAlphas||e.batchingColor?"#define USE_COLOR_ALPHA":"",e.vertexUv1s?"#define USE_UV1":"",e.vertexUv2s?"#define USE_UV2":"",e.vertexUv3s?"#define USE_UV3":"",e.pointsUvs?"#define USE_POINTS_UV":"",e.gradientMap?"#define USE_GRADIENTMAP":"",e.flatShading?"#define FLAT_SHADED":"",e.doubleSided?"#define DOUBLE_SIDED":"",e.flipSided?"#define FLIP_SIDED":"",e.shadowMapEnabled?"#define USE_SHADOWMAP":"",e.shadowMapEnabled?"#define "+l:"",e.premultipliedAlpha?"#define PREMULTIPLIED_ALPHA":"",e.numLightProbes>0?"#define USE_LIGHT_PROBES":"",e.decodeVideoTexture?"#define DECODE_VIDEO_TEXTURE":"",e.decodeVideoTextureEmissive?"#define DECODE_VIDEO_TEXTURE_EMISSIVE":"",e.logarithmicDepthBuffer?"#define USE_LOGARITHMIC_DEPTH_BUFFER":"",e.reversedDepthBuffer?"#define USE_REVERSED_DEPTH_BUFFER":"","uniform mat4 viewMatrix;","uniform vec3 cameraPosition;","uniform bool isOrthographic;",e.toneMapping!==Qi?"#define TONE_MAPPING":"",e.toneMapping!==Qi?he.tonemapping_pars_fragment:"",e.toneMapping!==Qi?bw("toneMapping",e.toneMapping):"",e.dithering?"#define DITHERING":"",e.opaque?"#define OPAQUE":"",he.colorspace_pars_fragment,Sw("linearToOutputTexel",e.outputColorSpace),ww(),e.useDepthPacking?"#define DEPTH_PACKING "+e.depthPacking:"",`
`].filter(qa).join(`
`)),o=nf(o),o=d0(o,e),o=f0(o,e),a=nf(a),a=d0(a,e),a=f0(a,e),o=p0(o),a=p0(a),e.isRawShaderMaterial!==!0&&(p=`#version 300 es
`,y=[u,"#define attribute in","#define varying out","#define texture2D texture"].join(`
`)+`
`+y,m=["#define varying in",e.glslVersion===Vd?"":"layout(location = 0) out highp vec4 pc_fragColor;",e.glslVersion===Vd?"":"#define gl_FragColor pc_fragColor","#define gl_FragDepthEXT gl_FragDepth","#define texture2D texture","#define textureCube texture","#define texture2DProj textureProj","#define texture2DLodEXT textureLod","#define texture2DProjLodEXT textureProjLod","#define textureCubeLodEXT textureLod","#define texture2DGradEXT textureGrad","#define texture2DProjGradEXT textureProjGrad","#define textureCubeGradEXT textureGrad"].join(`
`)+`
`+m);let v=p+y+o,T=p+m+a,M=c0(s,s.VERTEX_SHADER,v),P=c0(s,s.FRAGMENT_SHADER,T);s.attachShader(g,M),s.attachShader(g,P),e.index0AttributeName!==void 0?s.bindAttribLocation(g,0,e.index0AttributeName):e.hasPositionAttribute===!0&&s.bindAttribLocation(g,0,"position"),s.linkProgram(g);function E(N){if(i.debug.checkShaderErrors){let D=s.getProgramInfoLog(g)||"",z=s.getShaderInfoLog(M)||"",H=s.getShaderInfoLog(P)||"",L=D.trim(),W=z.trim(),Y=H.trim(),G=!0,lt=!0;if(s.getProgramParameter(g,s.LINK_STATUS)===!1)if(G=!1,typeof i.debug.onShaderError=="function")i.debug.onShaderError(s,g,M,P);else{let $=u0(s,M,"vertex"),j=u0(s,P,"fragment");Qt("WebGLProgram: Shader Error "+s.getError()+" - VALIDATE_STATUS "+s.getProgramParameter(g,s.VALIDATE_STATUS)+`

Material Name: `+N.name+`
Material Type: `+N.type+`

Program Info Log: `+L+`
`+$+`
`+j)}else L!==""?qt("WebGLProgram: Program Info Log:",L):(W===""||Y==="")&&(lt=!1);lt&&(N.diagnostics={runnable:G,programLog:L,vertexShader:{log:W,prefix:y},fragmentShader:{log:Y,prefix:m}})}s.deleteShader(M),s.deleteShader(P),x=new So(s,g),A=Tw(s,g)}let x;this.getUniforms=function(){return x===void 0&&E(this),x};let A;this.getAttributes=function(){return A===void 0&&E(this),A};let k=e.rendererExtensionParallelShaderCompile===!1;return this.isReady=function(){return k===!1&&(k=s.getProgramParameter(g,_w)),k},this.destroy=function(){n.releaseStatesOfProgram(this),s.deleteProgram(g),this.program=void 0},this.type=e.shaderType,this.name=e.shaderName,this.id=xw++,this.cacheKey=t,this.usedTimes=1,this.program=g,this.vertexShader=M,this.fragmentShader=P,this}var kw=0,sf=class{constructor(){this.shaderCache=new Map,this.materialCache=new Map}update(t,e,n){let s=this._getShaderCacheForMaterial(t);return s.has(e)===!1&&(s.add(e),e.usedTimes++),s.has(n)===!1&&(s.add(n),n.usedTimes++),this}remove(t){let e=this.materialCache.get(t);for(let n of e)n.usedTimes--,n.usedTimes===0&&this.shaderCache.delete(n.code);return this.materialCache.delete(t),this}getVertexShaderStage(t){return this._getShaderStage(t.vertexShader)}getFragmentShaderStage(t){return this._getShaderStage(t.fragmentShader)}dispose(){this.shaderCache.clear(),this.materialCache.clear()}_getShaderCacheForMaterial(t){let e=this.materialCache,n=e.get(t);return n===void 0&&(n=new Set,e.set(t,n)),n}_getShaderStage(t){let e=this.shaderCache,n=e.get(t);return n===void 0&&(n=new rf(t),e.set(t,n)),n}},rf=class{constructor(t){this.id=kw++,this.code=t,this.usedTimes=0}};function zw(i){return i===Zs||i===Ga||i===Ha}function Vw(i,t,e,n,s,r){let o=new ha,a=new sf,l=new Set,c=[],h=new Map,d=n.logarithmicDepthBuffer,u={MeshDepthMaterial:"depth",MeshDistanceMaterial:"distance",MeshNormalMaterial:"normal",MeshBasicMaterial:"basic",MeshLambertMaterial:"lambert",MeshPhongMaterial:"phong",MeshToonMaterial:"toon",MeshStandardMaterial:"physical",MeshPhysicalMaterial:"physical",MeshMatcapMaterial:"matcap",LineBasicMaterial:"basic",LineDashedMaterial:"dashed",PointsMaterial:"points",ShadowMaterial:"shadow",SpriteMaterial:"sprite"};function f(x){return l.add(x),x===0?"uv":`uv${x}`}function g(x,A,k,N,D,z){let H=N.fog,L=D.geometry,W=x.isMeshStandardMaterial||x.isMeshLambertMaterial||x.isMeshPhongMaterial?N.environment:null,Y=x.isMeshStandardMaterial||x.isMeshLambertMaterial&&!x.envMap||x.isMeshPhongMaterial&&!x.envMap,G=t.get(x.envMap||W,Y),lt=u[x.type],$=n.precision;x.precision!==null&&($=n.getMaxPrecision(x.precision),$!==x.precision&&qt("WebGLProgram.getParameters:",x.precision,"not supported, using",$,"instead."));let j=L.morphAttributes.position||L.morphAttributes.normal||L.morphAttributes.color,it=j!==void 0?j.length:0,ut=0;L.morphAttributes.position!==void 0&&(ut=1),L.morphAttributes.normal!==void 0&&(ut=2),L.morphAttributes.color!==void 0&&(ut=3);let ht,Q,mt,xt;if(lt){let Ct=Jn[lt];ht=Ct.vertexShader,Q=Ct.fragmentShader}else{ht=x.vertexShader,Q=x.fragmentShader;let Ct=a.getVertexShaderStage(x),oe=a.getFragmentShaderStage(x);a.update(x,Ct,oe),mt=Ct.id,xt=oe.id}let Tt=i.getRenderTarget(),Mt=i.state.buffers.depth.getReversed(),Ht=D.isInstancedMesh===!0,se=D.isBatchedMesh===!0,Vt=!!x.map,ue=!!x.matcap,ae=!!G,ee=ae&&G.isPMREMTexture===!0,Ye=!!x.aoMap,Be=!!x.lightMap,sn=!!x.bumpMap&&x.wireframe===!1,De=!!x.normalMap,xn=!!x.displacementMap,ve=!!x.emissiveMap,dn=!!x.metalnessMap,$e=!!x.roughnessMap,rn=x.anisotropy>0,F=x.clearcoat>0,Rt=x.diffuseRoughness>0,Yt=x.dispersion>0,re=x.retroreflectivity>0,bt=x.iridescence>0,Ue=x.sheen>0,zt=x.transmission>0,Xt=rn&&!!x.anisotropyMap,C=F&&!!x.clearcoatMap,S=F&&!!x.clearcoatNormalMap,X=F&&!!x.clearcoatRoughnessMap,ct=Rt&&!!x.diffuseRoughnessMap,rt=bt&&!!x.iridescenceMap,_t=bt&&!!x.iridescenceThicknessMap,vt=Ue&&!!x.sheenColorMap,tt=Ue&&!!x.sheenRoughnessMap,nt=!!x.specularMap,ft=!!x.specularColorMap,U=!!x.specularIntensityMap,st=zt&&!!x.transmissionMap,et=zt&&!!x.thicknessMap,wt=!!x.gradientMap,gt=!!x.alphaMap,St=x.alphaTest>0,Gt=!!x.alphaHash,Jt=!!x.extensions,at=Qi;x.toneMapped&&(Tt===null||Tt.isXRRenderTarget===!0)&&(at=i.toneMapping);let Ot=ee?G.isCompressedCubeTexture?G.image[0].mipmaps:G.mipmaps:null,$t={shaderID:lt,shaderType:x.type,shaderName:x.name,vertexShader:ht,fragmentShader:Q,defines:x.defines,customVertexShaderID:mt,customFragmentShaderID:xt,isRawShaderMaterial:x.isRawShaderMaterial===!0,glslVersion:x.glslVersion,precision:$,batching:se,batchingColor:se&&D._colorsTexture!==null,instancing:Ht,instancingColor:Ht&&D.instanceColor!==null,instancingMorph:Ht&&D.morphTexture!==null,outputColorSpace:Tt===null?i.outputColorSpace:Tt.isXRRenderTarget===!0?Tt.texture.colorSpace:_e.workingColorSpace,alphaToCoverage:!!x.alphaToCoverage,map:Vt,matcap:ue,envMap:ae,envMapMode:ae&&G.mapping,envMapPMREM:ee,envMapMaxLod:ee?Ot.length-1:null,envMapSize:ee?Ot[0].width:null,aoMap:Ye,lightMap:Be,bumpMap:sn,normalMap:De,displacementMap:xn,emissiveMap:ve,normalMapObjectSpace:De&&x.normalMapType===kg,normalMapTangentSpace:De&&x.normalMapType===xh,packedNormalMap:De&&x.normalMapType===xh&&zw(x.normalMap.format),metalnessMap:dn,roughnessMap:$e,anisotropy:rn,anisotropyMap:Xt,clearcoat:F,clearcoatMap:C,clearcoatNormalMap:S,clearcoatRoughnessMap:X,diffuseRoughness:Rt,diffuseRoughnessMap:ct,dispersion:Yt,retroreflection:re,iridescence:bt,iridescenceMap:rt,iridescenceThicknessMap:_t,sheen:Ue,sheenColorMap:vt,sheenRoughnessMap:tt,specularMap:nt,specularColorMap:ft,specularIntensityMap:U,transmission:zt,transmissionMap:st,thicknessMap:et,gradientMap:wt,opaque:x.transparent===!1&&x.blending===xo&&x.alphaToCoverage===!1,alphaMap:gt,alphaTest:St,alphaHash:Gt,combine:x.combine,mapUv:Vt&&f(x.map.channel),aoMapUv:Ye&&f(x.aoMap.channel),lightMapUv:Be&&f(x.lightMap.channel),bumpMapUv:sn&&f(x.bumpMap.channel),normalMapUv:De&&f(x.normalMap.channel),displacementMapUv:xn&&f(x.displacementMap.channel),emissiveMapUv:ve&&f(x.emissiveMap.channel),metalnessMapUv:dn&&f(x.metalnessMap.channel),roughnessMapUv:$e&&f(x.roughnessMap.channel),anisotropyMapUv:Xt&&f(x.anisotropyMap.channel),clearcoatMapUv:C&&f(x.clearcoatMap.channel),clearcoatNormalMapUv:S&&f(x.clearcoatNormalMap.channel),clearcoatRoughnessMapUv:X&&f(x.clearcoatRoughnessMap.channel),diffuseRoughnessMapUv:ct&&f(x.diffuseRoughnessMap.channel),iridescenceMapUv:rt&&f(x.iridescenceMap.channel),iridescenceThicknessMapUv:_t&&f(x.iridescenceThicknessMap.channel),sheenColorMapUv:vt&&f(x.sheenColorMap.channel),sheenRoughnessMapUv:tt&&f(x.sheenRoughnessMap.channel),specularMapUv:nt&&f(x.specularMap.channel),specularColorMapUv:ft&&f(x.specularColorMap.channel),specularIntensityMapUv:U&&f(x.specularIntensityMap.channel),transmissionMapUv:st&&f(x.transmissionMap.channel),thicknessMapUv:et&&f(x.thicknessMap.channel),alphaMapUv:gt&&f(x.alphaMap.channel),vertexTangents:!!L.attributes.tangent&&(De||rn),vertexNormals:!!L.attributes.normal,vertexColors:x.vertexColors,vertexAlphas:x.vertexColors===!0&&!!L.attributes.color&&L.attributes.color.itemSize===4,pointsUvs:D.isPoints===!0&&!!L.attributes.uv&&(Vt||gt),fog:!!H,useFog:x.fog===!0,fogExp2:!!H&&H.isFogExp2,flatShading:x.wireframe===!1&&(x.flatShading===!0||L.attributes.normal===void 0&&De===!1&&(x.isMeshLambertMaterial||x.isMeshPhongMaterial||x.isMeshStandardMaterial||x.isMeshPhysicalMaterial)),sizeAttenuation:x.sizeAttenuation===!0,logarithmicDepthBuffer:d,reversedDepthBuffer:Mt,skinning:D.isSkinnedMesh===!0,hasPositionAttribute:L.attributes.position!==void 0,morphTargets:L.morphAttributes.position!==void 0,morphNormals:L.morphAttributes.normal!==void 0,morphColors:L.morphAttributes.color!==void 0,morphTargetsCount:it,morphTextureStride:ut,numSunLights:A.sun.length,numDirLights:A.directional.length,numPointLights:A.point.length,numSpotLights:A.spot.length,numSpotLightMaps:A.spotLightMap.length,numRectAreaLights:A.rectArea.length,numHemiLights:A.hemi.length,numSunLightShadows:A.sunShadowMap.length,numDirLightShadows:A.directionalShadowMap.length,numPointLightShadows:A.pointShadowMap.length,numSpotLightShadows:A.spotShadowMap.length,numSpotLightShadowsWithMaps:A.numSpotLightShadowsWithMaps,numLightProbes:A.numLightProbes,numLightProbeGrids:z.filter(Ct=>Ct.texture!==null).length,numClippingPlanes:r.numPlanes,numClipIntersection:r.numIntersection,dithering:x.dithering,shadowMapEnabled:i.shadowMap.enabled&&k.length>0,shadowMapType:i.shadowMap.type,toneMapping:at,decodeVideoTexture:Vt&&x.map.isVideoTexture===!0&&_e.getTransfer(x.map.colorSpace)===Te,decodeVideoTextureEmissive:ve&&x.emissiveMap.isVideoTexture===!0&&_e.getTransfer(x.emissiveMap.colorSpace)===Te,premultipliedAlpha:x.premultipliedAlpha,doubleSided:x.side===Mi,flipSided:x.side===Zn,useDepthPacking:x.depthPacking>=0,depthPacking:x.depthPacking||0,index0AttributeName:x.index0AttributeName,extensionClipCullDistance:Jt&&x.extensions.clipCullDistance===!0&&e.has("WEBGL_clip_cull_distance"),extensionMultiDraw:(Jt&&x.extensions.multiDraw===!0||se)&&e.has("WEBGL_multi_draw"),rendererExtensionParallelShaderCompile:e.has("KHR_parallel_shader_compile"),customProgramCacheKey:x.customProgramCacheKey()};return $t.vertexUv1s=l.has(1),$t.vertexUv2s=l.has(2),$t.vertexUv3s=l.has(3),l.clear(),$t}function y(x){let A=[];if(x.shaderID?A.push(x.shaderID):(A.push(x.customVertexShaderID),A.push(x.customFragmentShaderID)),x.defines!==void 0)for(let k in x.defines)A.push(k),A.push(x.defines[k]);return x.isRawShaderMaterial===!1&&(m(A,x),p(A,x),A.push(i.outputColorSpace)),A.push(x.customProgramCacheKey),A.join()}function m(x,A){x.push(A.precision),x.push(A.outputColorSpace),x.push(A.envMapMode),x.push(A.envMapPMREM),x.push(A.envMapMaxLod),x.push(A.envMapSize),x.push(A.mapUv),x.push(A.alphaMapUv),x.push(A.lightMapUv),x.push(A.aoMapUv),x.push(A.bumpMapUv),x.push(A.normalMapUv),x.push(A.displacementMapUv),x.push(A.emissiveMapUv),x.push(A.metalnessMapUv),x.push(A.roughnessMapUv),x.push(A.anisotropyMapUv),x.push(A.clearcoatMapUv),x.push(A.clearcoatNormalMapUv),x.push(A.clearcoatRoughnessMapUv),x.push(A.diffuseRoughnessMapUv),x.push(A.iridescenceMapUv),x.push(A.iridescenceThicknessMapUv),x.push(A.sheenColorMapUv),x.push(A.sheenRoughnessMapUv),x.push(A.specularMapUv),x.push(A.specularColorMapUv),x.push(A.specularIntensityMapUv),x.push(A.transmissionMapUv),x.push(A.thicknessMapUv),x.push(A.combine),x.push(A.fogExp2),x.push(A.sizeAttenuation),x.push(A.morphTargetsCount),x.push(A.numSunLights),x.push(A.numDirLights),x.push(A.numPointLights),x.push(A.numSpotLights),x.push(A.numSpotLightMaps),x.push(A.numHemiLights),x.push(A.numRectAreaLights),x.push(A.numSunLightShadows),x.push(A.numDirLightShadows),x.push(A.numPointLightShadows),x.push(A.numSpotLightShadows),x.push(A.numSpotLightShadowsWithMaps),x.push(A.numLightProbes),x.push(A.numLightProbeGrids),x.push(A.shadowMapType),x.push(A.toneMapping),x.push(A.numClippingPlanes),x.push(A.numClipIntersection),x.push(A.depthPacking)}function p(x,A){o.disableAll(),A.instancing&&o.enable(0),A.instancingColor&&o.enable(1),A.instancingMorph&&o.enable(2),A.matcap&&o.enable(3),A.envMap&&o.enable(4),A.normalMapObjectSpace&&o.enable(5),A.normalMapTangentSpace&&o.enable(6),A.clearcoat&&o.enable(7),A.iridescence&&o.enable(8),A.alphaTest&&o.enable(9),A.vertexColors&&o.enable(10),A.vertexAlphas&&o.enable(11),A.vertexUv1s&&o.enable(12),A.vertexUv2s&&o.enable(13),A.vertexUv3s&&o.enable(14),A.vertexTangents&&o.enable(15),A.anisotropy&&o.enable(16),A.alphaHash&&o.enable(17),A.batching&&o.enable(18),A.dispersion&&o.enable(19),A.retroreflection&&o.enable(24),A.diffuseRoughness&&o.enable(25),A.batchingColor&&o.enable(20),A.gradientMap&&o.enable(21),A.packedNormalMap&&o.enable(22),A.vertexNormals&&o.enable(23),x.push(o.mask),o.disableAll(),A.fog&&o.enable(0),A.useFog&&o.enable(1),A.flatShading&&o.enable(2),A.logarithmicDepthBuffer&&o.enable(3),A.reversedDepthBuffer&&o.enable(4),A.skinning&&o.enable(5),A.morphTargets&&o.enable(6),A.morphNormals&&o.enable(7),A.morphColors&&o.enable(8),A.premultipliedAlpha&&o.enable(9),A.shadowMapEnabled&&o.enable(10),A.doubleSided&&o.enable(11),A.flipSided&&o.enable(12),A.useDepthPacking&&o.enable(13),A.dithering&&o.enable(14),A.transmission&&o.enable(15),A.sheen&&o.enable(16),A.opaque&&o.enable(17),A.pointsUvs&&o.enable(18),A.decodeVideoTexture&&o.enable(19),A.decodeVideoTextureEmissive&&o.enable(20),A.alphaToCoverage&&o.enable(21),A.numLightProbeGrids>0&&o.enable(22),A.hasPositionAttribute&&o.enable(23),x.push(o.mask)}function v(x){let A=u[x.type],k;if(A){let N=Jn[A];k=Wa.clone(N.uniforms)}else k=x.uniforms;return k}function T(x,A){let k=h.get(A);return k!==void 0?++k.usedTimes:(k=new Bw(i,A,x,s),c.push(k),h.set(A,k)),k}function M(x){if(--x.usedTimes===0){let A=c.indexOf(x);c[A]=c[c.length-1],c.pop(),h.delete(x.cacheKey),x.destroy()}}function P(x){a.remove(x)}function E(){a.dispose()}return{getParameters:g,getProgramCacheKey:y,getUniforms:v,acquireProgram:T,releaseProgram:M,releaseShaderCache:P,programs:c,dispose:E}}function Gw(){let i=new WeakMap;function t(o){return i.has(o)}function e(o){let a=i.get(o);return a===void 0&&(a={},i.set(o,a)),a}function n(o){i.delete(o)}function s(o,a,l){i.get(o)[a]=l}function r(){i=new WeakMap}return{has:t,get:e,remove:n,update:s,dispose:r}}function Hw(i,t){return i.groupOrder!==t.groupOrder?i.groupOrder-t.groupOrder:i.renderOrder!==t.renderOrder?i.renderOrder-t.renderOrder:i.material.id!==t.material.id?i.material.id-t.material.id:i.materialVariant!==t.materialVariant?i.materialVariant-t.materialVariant:i.z!==t.z?i.z-t.z:i.id-t.id}function g0(i,t){return i.groupOrder!==t.groupOrder?i.groupOrder-t.groupOrder:i.renderOrder!==t.renderOrder?i.renderOrder-t.renderOrder:i.z!==t.z?t.z-i.z:i.id-t.id}function _0(){let i=[],t=0,e=[],n=[],s=[];function r(){t=0,e.length=0,n.length=0,s.length=0}function o(u){let f=0;return u.isInstancedMesh&&(f+=2),u.isSkinnedMesh&&(f+=1),f}function a(u,f,g,y,m,p){let v=i[t];return v===void 0?(v={id:u.id,object:u,geometry:f,material:g,materialVariant:o(u),groupOrder:y,renderOrder:u.renderOrder,z:m,group:p},i[t]=v):(v.id=u.id,v.object=u,v.geometry=f,v.material=g,v.materialVariant=o(u),v.groupOrder=y,v.renderOrder=u.renderOrder,v.z=m,v.group=p),t++,v}function l(u,f,g,y,m,p,v){v.reversedDepth===!0&&(m=-m);let T=a(u,f,g,y,m,p);g.transmission>0?n.push(T):g.transparent===!0?s.push(T):e.push(T)}function c(u,f,g,y,m,p){let v=a(u,f,g,y,m,p);g.transmission>0?n.unshift(v):g.transparent===!0?s.unshift(v):e.unshift(v)}function h(u,f){e.length>1&&e.sort(u||Hw),n.length>1&&n.sort(f||g0),s.length>1&&s.sort(f||g0)}function d(){for(let u=t,f=i.length;u<f;u++){let g=i[u];if(g.id===null)break;g.id=null,g.object=null,g.geometry=null,g.material=null,g.group=null}}return{opaque:e,transmissive:n,transparent:s,init:r,push:l,unshift:c,finish:d,sort:h}}function Ww(){let i=new WeakMap;function t(n,s){let r=i.get(n),o;return r===void 0?(o=new _0,i.set(n,[o])):s>=r.length?(o=new _0,r.push(o)):o=r[s],o}function e(){i=new WeakMap}return{get:t,dispose:e}}function Xw(){let i={};return{get:function(t){if(i[t.id]!==void 0)return i[t.id];let e;switch(t.type){case"SunLight":case"DirectionalLight":e={direction:new O,color:new ce};break;case"SpotLight":e={position:new O,direction:new O,color:new ce,distance:0,coneCos:0,penumbraCos:0,decay:0};break;case"PointLight":e={position:new O,color:new ce,distance:0,decay:0};break;case"HemisphereLight":e={direction:new O,skyColor:new ce,groundColor:new ce};break;case"RectAreaLight":e={color:new ce,position:new O,halfWidth:new O,halfHeight:new O};break}return i[t.id]=e,e}}}function qw(){let i={};return{get:function(t){if(i[t.id]!==void 0)return i[t.id];let e;switch(t.type){case"SunLight":case"DirectionalLight":e={shadowIntensity:1,shadowBias:0,shadowNormalBias:0,shadowRadius:1,shadowMapSize:new Kt};break;case"SpotLight":e={shadowIntensity:1,shadowBias:0,shadowNormalBias:0,shadowRadius:1,shadowMapSize:new Kt};break;case"PointLight":e={shadowIntensity:1,shadowBias:0,shadowNormalBias:0,shadowRadius:1,shadowMapSize:new Kt,shadowCameraNear:1,shadowCameraFar:1e3};break}return i[t.id]=e,e}}}var Yw=0;function Zw(i,t){return(t.castShadow?2:0)-(i.castShadow?2:0)+(t.map?1:0)-(i.map?1:0)}function Jw(i){let t=new Xw,e=qw(),n={version:0,hash:{sunLength:-1,directionalLength:-1,pointLength:-1,spotLength:-1,rectAreaLength:-1,hemiLength:-1,numSunShadows:-1,numDirectionalShadows:-1,numPointShadows:-1,numSpotShadows:-1,numSpotMaps:-1,numLightProbes:-1},ambient:[0,0,0],probe:[],sun:[],sunShadow:[],sunShadowMap:[],sunShadowMatrix:[],sunShadowCascade:[],directional:[],directionalShadow:[],directionalShadowMap:[],directionalShadowMatrix:[],spot:[],spotLightMap:[],spotShadow:[],spotShadowMap:[],spotLightMatrix:[],rectArea:[],rectAreaLTC1:null,rectAreaLTC2:null,point:[],pointShadow:[],pointShadowMap:[],pointShadowMatrix:[],hemi:[],numSpotLightShadowsWithMaps:0,numLightProbes:0};for(let c=0;c<9;c++)n.probe.push(new O);let s=new O,r=new ye,o=new ye;function a(c){let h=0,d=0,u=0;for(let z=0;z<9;z++)n.probe[z].set(0,0,0);let f=0,g=0,y=0,m=0,p=0,v=0,T=0,M=0,P=0,E=0,x=0,A=0,k=0,N=0;c.sort(Zw);for(let z=0,H=c.length;z<H;z++){let L=c[z],W=L.color,Y=L.intensity,G=L.distance,lt=null;if(L.shadow&&L.shadow.map&&(L.shadow.map.texture.format===Zs?lt=L.shadow.map.texture:lt=L.shadow.map.depthTexture||L.shadow.map.texture),L.isAmbientLight)h+=W.r*Y,d+=W.g*Y,u+=W.b*Y;else if(L.isLightProbe){for(let $=0;$<9;$++)n.probe[$].addScaledVector(L.sh.coefficients[$],Y);N++}else if(L.isSunLight){let $=t.get(L);if($.color.copy(L.color).multiplyScalar(L.intensity),L.castShadow){let j=L.shadow,it=e.get(L);it.shadowIntensity=j.intensity,it.shadowBias=j.bias,it.shadowNormalBias=j.normalBias,it.shadowRadius=j.radius,it.shadowMapSize.copy(j.mapSize).multiply(j.getFrameExtents()),n.sunShadow[g]=it,n.sunShadowMap[g]=lt;let ut=j.getViewportCount();for(let ht=0;ht<ut;ht++)n.sunShadowMatrix[y+ht]=j.getMatrix(ht),n.sunShadowCascade[y+ht]=j._cascadeData[ht];y+=ut,g++}n.sun[f]=$,f++}else if(L.isDirectionalLight){let $=t.get(L);if($.color.copy(L.color).multiplyScalar(L.intensity),L.castShadow){let j=L.shadow,it=e.get(L);it.shadowIntensity=j.intensity,it.shadowBias=j.bias,it.shadowNormalBias=j.normalBias,it.shadowRadius=j.radius,it.shadowMapSize=j.mapSize,n.directionalShadow[m]=it,n.directionalShadowMap[m]=lt,n.directionalShadowMatrix[m]=L.shadow.matrix,P++}n.directional[m]=$,m++}else if(L.isSpotLight){let $=t.get(L);$.position.setFromMatrixPosition(L.matrixWorld),$.color.copy(W).multiplyScalar(Y),$.distance=G,$.coneCos=Math.cos(L.angle),$.penumbraCos=Math.cos(L.angle*(1-L.penumbra)),$.decay=L.decay,n.spot[v]=$;let j=L.shadow;if(L.map&&(n.spotLightMap[A]=L.map,A++,j.updateMatrices(L),L.castShadow&&k++),n.spotLightMatrix[v]=j.matrix,L.castShadow){let it=e.get(L);it.shadowIntensity=j.intensity,it.shadowBias=j.bias,it.shadowNormalBias=j.normalBias,it.shadowRadius=j.radius,it.shadowMapSize=j.mapSize,n.spotShadow[v]=it,n.spotShadowMap[v]=lt,x++}v++}else if(L.isRectAreaLight){let $=t.get(L);$.color.copy(W).multiplyScalar(Y),$.halfWidth.set(L.width*.5,0,0),$.halfHeight.set(0,L.height*.5,0),n.rectArea[T]=$,T++}else if(L.isPointLight){let $=t.get(L);if($.color.copy(L.color).multiplyScalar(L.intensity),$.distance=L.distance,$.decay=L.decay,L.castShadow){let j=L.shadow,it=e.get(L);it.shadowIntensity=j.intensity,it.shadowBias=j.bias,it.shadowNormalBias=j.normalBias,it.shadowRadius=j.radius,it.shadowMapSize=j.mapSize,it.shadowCameraNear=j.camera.near,it.shadowCameraFar=j.camera.far,n.pointShadow[p]=it,n.pointShadowMap[p]=lt,n.pointShadowMatrix[p]=L.shadow.matrix,E++}n.point[p]=$,p++}else if(L.isHemisphereLight){let $=t.get(L);$.skyColor.copy(L.color).multiplyScalar(Y),$.groundColor.copy(L.groundColor).multiplyScalar(Y),n.hemi[M]=$,M++}}T>0&&(i.has("OES_texture_float_linear")===!0?(n.rectAreaLTC1=Pt.LTC_FLOAT_1,n.rectAreaLTC2=Pt.LTC_FLOAT_2):(n.rectAreaLTC1=Pt.LTC_HALF_1,n.rectAreaLTC2=Pt.LTC_HALF_2)),n.ambient[0]=h,n.ambient[1]=d,n.ambient[2]=u;let D=n.hash;(D.sunLength!==f||D.directionalLength!==m||D.pointLength!==p||D.spotLength!==v||D.rectAreaLength!==T||D.hemiLength!==M||D.numSunShadows!==g||D.numDirectionalShadows!==P||D.numPointShadows!==E||D.numSpotShadows!==x||D.numSpotMaps!==A||D.numLightProbes!==N)&&(n.sun.length=f,n.directional.length=m,n.spot.length=v,n.rectArea.length=T,n.point.length=p,n.hemi.length=M,n.sunShadow.length=g,n.sunShadowMap.length=g,n.sunShadowMatrix.length=y,n.sunShadowCascade.length=y,n.directionalShadow.length=P,n.directionalShadowMap.length=P,n.directionalShadowMatrix.length=P,n.pointShadow.length=E,n.pointShadowMap.length=E,n.pointShadowMatrix.length=E,n.spotShadow.length=x,n.spotShadowMap.length=x,n.spotLightMatrix.length=x+A-k,n.spotLightMap.length=A,n.numSpotLightShadowsWithMaps=k,n.numLightProbes=N,D.sunLength=f,D.directionalLength=m,D.pointLength=p,D.spotLength=v,D.rectAreaLength=T,D.hemiLength=M,D.numSunShadows=g,D.numDirectionalShadows=P,D.numPointShadows=E,D.numSpotShadows=x,D.numSpotMaps=A,D.numLightProbes=N,n.version=Yw++)}function l(c,h){let d=0,u=0,f=0,g=0,y=0,m=0,p=h.matrixWorldInverse;for(let v=0,T=c.length;v<T;v++){let M=c[v];if(M.isSunLight){let P=n.sun[d];P.direction.setFromMatrixPosition(M.matrixWorld),P.direction.transformDirection(p),d++}else if(M.isDirectionalLight){let P=n.directional[u];P.direction.setFromMatrixPosition(M.matrixWorld),s.setFromMatrixPosition(M.target.matrixWorld),P.direction.sub(s),P.direction.transformDirection(p),u++}else if(M.isSpotLight){let P=n.spot[g];P.position.setFromMatrixPosition(M.matrixWorld),P.position.applyMatrix4(p),P.direction.setFromMatrixPosition(M.matrixWorld),s.setFromMatrixPosition(M.target.matrixWorld),P.direction.sub(s),P.direction.transformDirection(p),g++}else if(M.isRectAreaLight){let P=n.rectArea[y];P.position.setFromMatrixPosition(M.matrixWorld),P.position.applyMatrix4(p),o.identity(),r.copy(M.matrixWorld),r.premultiply(p),o.extractRotation(r),P.halfWidth.set(M.width*.5,0,0),P.halfHeight.set(0,M.height*.5,0),P.halfWidth.applyMatrix4(o),P.halfHeight.applyMatrix4(o),y++}else if(M.isPointLight){let P=n.point[f];P.position.setFromMatrixPosition(M.matrixWorld),P.position.applyMatrix4(p),f++}else if(M.isHemisphereLight){let P=n.hemi[m];P.direction.setFromMatrixPosition(M.matrixWorld),P.direction.transformDirection(p),m++}}}return{setup:a,setupView:l,state:n}}function x0(i){let t=new Jw(i),e=[],n=[],s=[];function r(d){h.camera=d,e.length=0,n.length=0,s.length=0}function o(d){d.isLightProbeGrid?s.push(d):e.push(d)}function a(d){n.push(d)}function l(){t.setup(e),s.sort((d,u)=>d.priority-u.priority||d.id-u.id)}function c(d){t.setupView(e,d)}let h={lightsArray:e,shadowsArray:n,lightProbeGridArray:s,camera:null,lights:t,transmissionRenderTarget:{},textureUnits:0};return{init:r,state:h,setupLights:l,setupLightsView:c,pushLight:o,pushShadow:a}}function $w(i){let t=new WeakMap;function e(s,r=0){let o=t.get(s),a;return o===void 0?(a=new x0(i),t.set(s,[a])):r>=o.length?(a=new x0(i),o.push(a)):a=o[r],a}function n(){t=new WeakMap}return{get:e,dispose:n}}var Kw=`void main() {
	gl_Position = vec4( position, 1.0 );
}`,jw=`uniform sampler2D shadow_pass;
uniform vec2 resolution;
uniform float radius;
void main() {
	const float samples = float( VSM_SAMPLES );
	float mean = 0.0;
	float squared_mean = 0.0;
	float uvStride = samples <= 1.0 ? 0.0 : 2.0 / ( samples - 1.0 );
	float uvStart = samples <= 1.0 ? 0.0 : - 1.0;
	for ( float i = 0.0; i < samples; i ++ ) {
		float uvOffset = uvStart + i * uvStride;
		#ifdef HORIZONTAL_PASS
			vec2 distribution = texture2D( shadow_pass, ( gl_FragCoord.xy + vec2( uvOffset, 0.0 ) * radius ) / resolution ).rg;
			mean += distribution.x;
			squared_mean += distribution.y * distribution.y + distribution.x * distribution.x;
		#else
			float depth = texture2D( shadow_pass, ( gl_FragCoord.xy + vec2( 0.0, uvOffset ) * radius ) / resolution ).r;
			mean += depth;
			squared_mean += depth * depth;
		#endif
	}
	mean = mean / samples;
	squared_mean = squared_mean / samples;
	float std_dev = sqrt( max( 0.0, squared_mean - mean * mean ) );
	gl_FragColor = vec4( mean, std_dev, 0.0, 1.0 );
}`,Qw=[new O(1,0,0),new O(-1,0,0),new O(0,1,0),new O(0,-1,0),new O(0,0,1),new O(0,0,-1)],t1=[new O(0,-1,0),new O(0,-1,0),new O(0,0,1),new O(0,0,-1),new O(0,-1,0),new O(0,-1,0)],v0=new ye,Xa=new O,jd=new O;function e1(i,t,e){let n=new Vs,s=new Kt,r=new Kt,o=new Re,a=new xc,l=new vc,c={},h=e.maxTextureSize,d={[Ys]:Zn,[Zn]:Ys,[Mi]:Mi},u=new Si({defines:{VSM_SAMPLES:8},uniforms:{shadow_pass:{value:null},resolution:{value:new Kt},radius:{value:4}},vertexShader:Kw,fragmentShader:jw}),f=u.clone();f.defines.HORIZONTAL_PASS=1;let g=new qe;g.setAttribute("position",new Xe(new Float32Array([-1,-1,.5,3,-1,.5,-1,3,.5]),3));let y=new xe(g,u),m=this;this.enabled=!1,this.autoUpdate=!0,this.needsUpdate=!1,this.type=Fa;let p=this.type;this.render=function(E,x,A){if(m.enabled===!1||m.autoUpdate===!1&&m.needsUpdate===!1||E.length===0)return;this.type===gg&&(qt("WebGLShadowMap: PCFSoftShadowMap has been removed. Using PCFShadowMap instead."),this.type=Fa);let k=i.getRenderTarget(),N=i.getActiveCubeFace(),D=i.getActiveMipmapLevel(),z=i.state;z.setBlending(mr),z.buffers.depth.getReversed()===!0?z.buffers.color.setClear(0,0,0,0):z.buffers.color.setClear(1,1,1,1),z.buffers.depth.setTest(!0),z.setScissorTest(!1);let H=p!==this.type;H&&x.traverse(function(L){L.material&&(Array.isArray(L.material)?L.material.forEach(W=>W.needsUpdate=!0):L.material.needsUpdate=!0)});for(let L=0,W=E.length;L<W;L++){let Y=E[L],G=Y.shadow;if(G===void 0){qt("WebGLShadowMap:",Y,"has no shadow.");continue}if(G.autoUpdate===!1&&G.needsUpdate===!1)continue;s.copy(G.mapSize);let lt=G.getFrameExtents();s.multiply(lt),r.copy(G.mapSize),(s.x>h||s.y>h)&&(s.x>h&&(r.x=Math.floor(h/lt.x),s.x=r.x*lt.x,G.mapSize.x=r.x),s.y>h&&(r.y=Math.floor(h/lt.y),s.y=r.y*lt.y,G.mapSize.y=r.y));let $=i.state.buffers.depth.getReversed();if(G.camera._reversedDepth=$,G.map===null||H===!0){if(G.map!==null&&(G.map.depthTexture!==null&&(G.map.depthTexture.dispose(),G.map.depthTexture=null),G.map.dispose()),this.type===_o){if(Y.isPointLight){qt("WebGLShadowMap: VSM shadow maps are not supported for PointLights. Use PCF or BasicShadowMap instead.");continue}G.map=new ci(s.x,s.y,{format:Zs,type:Bi,minFilter:Yn,magFilter:Yn,generateMipmaps:!1}),G.map.texture.name=Y.name+".shadowMap",G.map.depthTexture=new Ss(s.x,s.y,bi),G.map.depthTexture.name=Y.name+".shadowMapDepth",G.map.depthTexture.format=xs,G.map.depthTexture.compareFunction=null,G.map.depthTexture.minFilter=An,G.map.depthTexture.magFilter=An}else Y.isPointLight?(G.map=new Ya(s.x),G.map.depthTexture=new ya(s.x,Oi)):(G.map=new ci(s.x,s.y),G.map.depthTexture=new Ss(s.x,s.y,Oi)),G.map.depthTexture.name=Y.name+".shadowMap",G.map.depthTexture.format=xs,this.type===Fa?(G.map.depthTexture.compareFunction=$?Bd:Od,G.map.depthTexture.minFilter=Yn,G.map.depthTexture.magFilter=Yn):(G.map.depthTexture.compareFunction=null,G.map.depthTexture.minFilter=An,G.map.depthTexture.magFilter=An);G.camera.updateProjectionMatrix()}G.map.isWebGLCubeRenderTarget!==!0&&(G.map.width!==s.x||G.map.height!==s.y)&&G.map.setSize(s.x,s.y);let j=G.map.isWebGLCubeRenderTarget?6:G.getViewportCount();Y.isPointLight!==!0&&G.updateMatrices(Y,A);let it=(G.camera.layers.mask&4294967294)!==0?G.camera.layers:A.layers;for(let ut=0;ut<j;ut++){let ht=G.getCamera(ut);if(Y.isPointLight){let Q=G.camera,mt=G.matrix,xt=Y.distance||Q.far;xt!==Q.far&&(Q.far=xt,Q.updateProjectionMatrix()),Xa.setFromMatrixPosition(Y.matrixWorld),Q.position.copy(Xa),jd.copy(Q.position),jd.add(Qw[ut]),Q.up.copy(t1[ut]),Q.lookAt(jd),Q.updateMatrixWorld(),mt.makeTranslation(-Xa.x,-Xa.y,-Xa.z),v0.multiplyMatrices(Q.projectionMatrix,Q.matrixWorldInverse),G._frustum.setFromProjectionMatrix(v0,Q.coordinateSystem,Q.reversedDepth)}if(G.map.isWebGLCubeRenderTarget)i.setRenderTarget(G.map,ut),i.clear();else{ut===0&&(i.setRenderTarget(G.map),i.clear());let Q=G.getViewport(ut);o.set(r.x*Q.x,r.y*Q.y,r.x*Q.z,r.y*Q.w),z.viewport(o)}n=G.getFrustum(ut),M(x,A,ht,Y,it,this.type)}G.isPointLightShadow!==!0&&this.type===_o&&v(G,A),G.needsUpdate=!1}p=this.type,m.needsUpdate=!1,i.setRenderTarget(k,N,D)};function v(E,x){let A=t.update(y);u.defines.VSM_SAMPLES!==E.blurSamples&&(u.defines.VSM_SAMPLES=E.blurSamples,f.defines.VSM_SAMPLES=E.blurSamples,u.needsUpdate=!0,f.needsUpdate=!0),E.mapPass===null?E.mapPass=new ci(s.x,s.y,{format:Zs,type:Bi}):(E.mapPass.width!==E.map.width||E.mapPass.height!==E.map.height)&&E.mapPass.setSize(E.map.width,E.map.height),u.uniforms.shadow_pass.value=E.map.depthTexture,u.uniforms.resolution.value.set(E.map.width,E.map.height),u.uniforms.radius.value=E.radius,i.setRenderTarget(E.mapPass),i.clear(),i.renderBufferDirect(x,null,A,u,y,null),f.uniforms.shadow_pass.value=E.mapPass.texture,f.uniforms.resolution.value.set(E.map.width,E.map.height),f.uniforms.radius.value=E.radius,i.setRenderTarget(E.map),i.clear(),i.renderBufferDirect(x,null,A,f,y,null)}function T(E,x,A,k){let N=null,D=A.isPointLight===!0?E.customDistanceMaterial:E.customDepthMaterial;if(D!==void 0)N=D;else if(N=A.isPointLight===!0?l:a,i.localClippingEnabled&&x.clipShadows===!0&&Array.isArray(x.clippingPlanes)&&x.clippingPlanes.length!==0||x.displacementMap&&x.displacementScale!==0||x.alphaMap&&x.alphaTest>0||x.map&&x.alphaTest>0||x.alphaToCoverage===!0){let z=N.uuid,H=x.uuid,L=c[z];L===void 0&&(L={},c[z]=L);let W=L[H];W===void 0&&(W=N.clone(),L[H]=W,x.addEventListener("dispose",P)),N=W}if(N.visible=x.visible,N.wireframe=x.wireframe,k===_o?N.side=x.shadowSide!==null?x.shadowSide:x.side:N.side=x.shadowSide!==null?x.shadowSide:d[x.side],N.alphaMap=x.alphaMap,N.alphaTest=x.alphaToCoverage===!0?.5:x.alphaTest,N.map=x.map,N.clipShadows=x.clipShadows,N.clippingPlanes=x.clippingPlanes,N.clipIntersection=x.clipIntersection,N.displacementMap=x.displacementMap,N.displacementScale=x.displacementScale,N.displacementBias=x.displacementBias,N.wireframeLinewidth=x.wireframeLinewidth,N.linewidth=x.linewidth,A.isPointLight===!0&&N.isMeshDistanceMaterial===!0){let z=i.properties.get(N);z.light=A}return N}function M(E,x,A,k,N,D){if(E.visible===!1)return;if(E.layers.test(N)&&(E.isMesh||E.isLine||E.isPoints)&&(E.castShadow||E.receiveShadow&&D===_o)&&(!E.frustumCulled||E.intersectsFrustum(n))){E.modelViewMatrix.multiplyMatrices(A.matrixWorldInverse,E.matrixWorld);let L=t.update(E),W=E.material;if(Array.isArray(W)){let Y=L.groups;for(let G=0,lt=Y.length;G<lt;G++){let $=Y[G],j=W[$.materialIndex];if(j&&j.visible){let it=T(E,j,k,D);E.onBeforeShadow(i,E,x,A,L,it,$),i.renderBufferDirect(A,null,L,it,E,$),E.onAfterShadow(i,E,x,A,L,it,$)}}}else if(W.visible){let Y=T(E,W,k,D);E.onBeforeShadow(i,E,x,A,L,Y,null),i.renderBufferDirect(A,null,L,Y,E,null),E.onAfterShadow(i,E,x,A,L,Y,null)}}let H=E.children;for(let L=0,W=H.length;L<W;L++)M(H[L],x,A,k,N,D)}function P(E){E.target.removeEventListener("dispose",P);for(let A in c){let k=c[A],N=E.target.uuid;N in k&&(k[N].dispose(),delete k[N])}}}function n1(i,t){function e(){let U=!1,st=new Re,et=null,wt=new Re(0,0,0,0);return{setMask:function(gt){et!==gt&&!U&&(i.colorMask(gt,gt,gt,gt),et=gt)},setLocked:function(gt){U=gt},setClear:function(gt,St,Gt,Jt,at){at===!0&&(gt*=Jt,St*=Jt,Gt*=Jt),st.set(gt,St,Gt,Jt),wt.equals(st)===!1&&(i.clearColor(gt,St,Gt,Jt),wt.copy(st))},reset:function(){U=!1,et=null,wt.set(-1,0,0,0)}}}function n(){let U=!1,st=!1,et=null,wt=null,gt=null;return{setReversed:function(St){if(st!==St){let Gt=t.get("EXT_clip_control");St?Gt.clipControlEXT(Gt.LOWER_LEFT_EXT,Gt.ZERO_TO_ONE_EXT):Gt.clipControlEXT(Gt.LOWER_LEFT_EXT,Gt.NEGATIVE_ONE_TO_ONE_EXT),st=St;let Jt=gt;gt=null,this.setClear(Jt)}},getReversed:function(){return st},setTest:function(St){St?Mt(i.DEPTH_TEST):Ht(i.DEPTH_TEST)},setMask:function(St){et!==St&&!U&&(i.depthMask(St),et=St)},setFunc:function(St){if(st&&(St=Jg[St]),wt!==St){switch(St){case Ql:i.depthFunc(i.NEVER);break;case tc:i.depthFunc(i.ALWAYS);break;case ec:i.depthFunc(i.LESS);break;case lo:i.depthFunc(i.LEQUAL);break;case nc:i.depthFunc(i.EQUAL);break;case ic:i.depthFunc(i.GEQUAL);break;case sc:i.depthFunc(i.GREATER);break;case rc:i.depthFunc(i.NOTEQUAL);break;default:i.depthFunc(i.LEQUAL)}wt=St}},setLocked:function(St){U=St},setClear:function(St){gt!==St&&(gt=St,st&&(St=1-St),i.clearDepth(St))},reset:function(){U=!1,et=null,wt=null,gt=null,st=!1}}}function s(){let U=!1,st=null,et=null,wt=null,gt=null,St=null,Gt=null,Jt=null,at=null;return{setTest:function(Ot){U||(Ot?Mt(i.STENCIL_TEST):Ht(i.STENCIL_TEST))},setMask:function(Ot){st!==Ot&&!U&&(i.stencilMask(Ot),st=Ot)},setFunc:function(Ot,$t,Ct){(et!==Ot||wt!==$t||gt!==Ct)&&(i.stencilFunc(Ot,$t,Ct),et=Ot,wt=$t,gt=Ct)},setOp:function(Ot,$t,Ct){(St!==Ot||Gt!==$t||Jt!==Ct)&&(i.stencilOp(Ot,$t,Ct),St=Ot,Gt=$t,Jt=Ct)},setLocked:function(Ot){U=Ot},setClear:function(Ot){at!==Ot&&(i.clearStencil(Ot),at=Ot)},reset:function(){U=!1,st=null,et=null,wt=null,gt=null,St=null,Gt=null,Jt=null,at=null}}}let r=new e,o=new n,a=new s,l={},c=new WeakMap,h={},d={},u={},f=new WeakMap,g=[],y=null,m=!1,p=null,v=null,T=null,M=null,P=null,E=null,x=null,A=new ce(0,0,0),k=0,N=!1,D=null,z=null,H=null,L=null,W=null,Y=i.getParameter(i.MAX_COMBINED_TEXTURE_IMAGE_UNITS),G=!1,lt=0,$=i.getParameter(i.VERSION);$.indexOf("WebGL")!==-1?(lt=parseFloat(/^WebGL (\d)/.exec($)[1]),G=lt>=1):$.indexOf("OpenGL ES")!==-1&&(lt=parseFloat(/^OpenGL ES (\d)/.exec($)[1]),G=lt>=2);let j=null,it={},ut=i.getParameter(i.SCISSOR_BOX),ht=i.getParameter(i.VIEWPORT),Q=new Re().fromArray(ut),mt=new Re().fromArray(ht);function xt(U,st,et,wt){let gt=new Uint8Array(4),St=i.createTexture();i.bindTexture(U,St),i.texParameteri(U,i.TEXTURE_MIN_FILTER,i.NEAREST),i.texParameteri(U,i.TEXTURE_MAG_FILTER,i.NEAREST);for(let Gt=0;Gt<et;Gt++)U===i.TEXTURE_3D||U===i.TEXTURE_2D_ARRAY?i.texImage3D(st,0,i.RGBA,1,1,wt,0,i.RGBA,i.UNSIGNED_BYTE,gt):i.texImage2D(st+Gt,0,i.RGBA,1,1,0,i.RGBA,i.UNSIGNED_BYTE,gt);return St}let Tt={};Tt[i.TEXTURE_2D]=xt(i.TEXTURE_2D,i.TEXTURE_2D,1),Tt[i.TEXTURE_CUBE_MAP]=xt(i.TEXTURE_CUBE_MAP,i.TEXTURE_CUBE_MAP_POSITIVE_X,6),Tt[i.TEXTURE_2D_ARRAY]=xt(i.TEXTURE_2D_ARRAY,i.TEXTURE_2D_ARRAY,1,1),Tt[i.TEXTURE_3D]=xt(i.TEXTURE_3D,i.TEXTURE_3D,1,1),r.setClear(0,0,0,1),o.setClear(1),a.setClear(0),Mt(i.DEPTH_TEST),o.setFunc(lo),sn(!1),De(gd),Mt(i.CULL_FACE),Ye(mr);function Mt(U){h[U]!==!0&&(i.enable(U),h[U]=!0)}function Ht(U){h[U]!==!1&&(i.disable(U),h[U]=!1)}function se(U,st){return u[U]!==st?(i.bindFramebuffer(U,st),u[U]=st,U===i.DRAW_FRAMEBUFFER&&(u[i.FRAMEBUFFER]=st),U===i.FRAMEBUFFER&&(u[i.DRAW_FRAMEBUFFER]=st),!0):!1}function Vt(U,st){let et=g,wt=!1;if(U){et=f.get(st),et===void 0&&(et=[],f.set(st,et));let gt=U.textures;if(et.length!==gt.length||et[0]!==i.COLOR_ATTACHMENT0){for(let St=0,Gt=gt.length;St<Gt;St++)et[St]=i.COLOR_ATTACHMENT0+St;et.length=gt.length,wt=!0}}else et[0]!==i.BACK&&(et[0]=i.BACK,wt=!0);wt&&i.drawBuffers(et)}function ue(U){return y!==U?(i.useProgram(U),y=U,!0):!1}let ae={[gr]:i.FUNC_ADD,[xg]:i.FUNC_SUBTRACT,[vg]:i.FUNC_REVERSE_SUBTRACT};ae[yg]=i.MIN,ae[Sg]=i.MAX;let ee={[Mg]:i.ZERO,[bg]:i.ONE,[wg]:i.SRC_COLOR,[yd]:i.SRC_ALPHA,[Pg]:i.SRC_ALPHA_SATURATE,[Cg]:i.DST_COLOR,[Eg]:i.DST_ALPHA,[Ag]:i.ONE_MINUS_SRC_COLOR,[Sd]:i.ONE_MINUS_SRC_ALPHA,[Rg]:i.ONE_MINUS_DST_COLOR,[Tg]:i.ONE_MINUS_DST_ALPHA,[Ig]:i.CONSTANT_COLOR,[Lg]:i.ONE_MINUS_CONSTANT_COLOR,[Dg]:i.CONSTANT_ALPHA,[Ng]:i.ONE_MINUS_CONSTANT_ALPHA};function Ye(U,st,et,wt,gt,St,Gt,Jt,at,Ot){if(U===mr){m===!0&&(Ht(i.BLEND),m=!1);return}if(m===!1&&(Mt(i.BLEND),m=!0),U!==_g){if(U!==p||Ot!==N){if((v!==gr||P!==gr)&&(i.blendEquation(i.FUNC_ADD),v=gr,P=gr),Ot)switch(U){case xo:i.blendFuncSeparate(i.ONE,i.ONE_MINUS_SRC_ALPHA,i.ONE,i.ONE_MINUS_SRC_ALPHA);break;case _d:i.blendFunc(i.ONE,i.ONE);break;case xd:i.blendFuncSeparate(i.ZERO,i.ONE_MINUS_SRC_COLOR,i.ZERO,i.ONE);break;case vd:i.blendFuncSeparate(i.DST_COLOR,i.ONE_MINUS_SRC_ALPHA,i.ZERO,i.ONE);break;default:Qt("WebGLState: Invalid blending: ",U);break}else switch(U){case xo:i.blendFuncSeparate(i.SRC_ALPHA,i.ONE_MINUS_SRC_ALPHA,i.ONE,i.ONE_MINUS_SRC_ALPHA);break;case _d:i.blendFuncSeparate(i.SRC_ALPHA,i.ONE,i.ONE,i.ONE);break;case xd:Qt("WebGLState: SubtractiveBlending requires material.premultipliedAlpha = true");break;case vd:Qt("WebGLState: MultiplyBlending requires material.premultipliedAlpha = true");break;default:Qt("WebGLState: Invalid blending: ",U);break}T=null,M=null,E=null,x=null,A.set(0,0,0),k=0,p=U,N=Ot}return}gt=gt||st,St=St||et,Gt=Gt||wt,(st!==v||gt!==P)&&(i.blendEquationSeparate(ae[st],ae[gt]),v=st,P=gt),(et!==T||wt!==M||St!==E||Gt!==x)&&(i.blendFuncSeparate(ee[et],ee[wt],ee[St],ee[Gt]),T=et,M=wt,E=St,x=Gt),(Jt.equals(A)===!1||at!==k)&&(i.blendColor(Jt.r,Jt.g,Jt.b,at),A.copy(Jt),k=at),p=U,N=!1}function Be(U,st){U.side===Mi?Ht(i.CULL_FACE):Mt(i.CULL_FACE);let et=U.side===Zn;st&&(et=!et),sn(et),U.blending===xo&&U.transparent===!1?Ye(mr):Ye(U.blending,U.blendEquation,U.blendSrc,U.blendDst,U.blendEquationAlpha,U.blendSrcAlpha,U.blendDstAlpha,U.blendColor,U.blendAlpha,U.premultipliedAlpha),o.setFunc(U.depthFunc),o.setTest(U.depthTest),o.setMask(U.depthWrite),r.setMask(U.colorWrite);let wt=U.stencilWrite;a.setTest(wt),wt&&(a.setMask(U.stencilWriteMask),a.setFunc(U.stencilFunc,U.stencilRef,U.stencilFuncMask),a.setOp(U.stencilFail,U.stencilZFail,U.stencilZPass)),ve(U.polygonOffset,U.polygonOffsetFactor,U.polygonOffsetUnits),U.alphaToCoverage===!0?Mt(i.SAMPLE_ALPHA_TO_COVERAGE):Ht(i.SAMPLE_ALPHA_TO_COVERAGE)}function sn(U){D!==U&&(U?i.frontFace(i.CW):i.frontFace(i.CCW),D=U)}function De(U){U!==pg?(Mt(i.CULL_FACE),U!==z&&(U===gd?i.cullFace(i.BACK):U===mg?i.cullFace(i.FRONT):i.cullFace(i.FRONT_AND_BACK))):Ht(i.CULL_FACE),z=U}function xn(U){U!==H&&(G&&i.lineWidth(U),H=U)}function ve(U,st,et){U?(Mt(i.POLYGON_OFFSET_FILL),(L!==st||W!==et)&&(L=st,W=et,o.getReversed()&&(st=-st,et=-et),i.polygonOffset(st,et))):Ht(i.POLYGON_OFFSET_FILL)}function dn(U){U?Mt(i.SCISSOR_TEST):Ht(i.SCISSOR_TEST)}function $e(U){U===void 0&&(U=i.TEXTURE0+Y-1),j!==U&&(i.activeTexture(U),j=U)}function rn(U,st,et){et===void 0&&(j===null?et=i.TEXTURE0+Y-1:et=j);let wt=it[et];wt===void 0&&(wt={type:void 0,texture:void 0},it[et]=wt),(wt.type!==U||wt.texture!==st)&&(j!==et&&(i.activeTexture(et),j=et),i.bindTexture(U,st||Tt[U]),wt.type=U,wt.texture=st)}function F(){let U=it[j];U!==void 0&&U.type!==void 0&&(i.bindTexture(U.type,null),U.type=void 0,U.texture=void 0)}function Rt(){try{i.compressedTexImage2D(...arguments)}catch(U){Qt("WebGLState:",U)}}function Yt(){try{i.compressedTexImage3D(...arguments)}catch(U){Qt("WebGLState:",U)}}function re(){try{i.texSubImage2D(...arguments)}catch(U){Qt("WebGLState:",U)}}function bt(){try{i.texSubImage3D(...arguments)}catch(U){Qt("WebGLState:",U)}}function Ue(){try{i.compressedTexSubImage2D(...arguments)}catch(U){Qt("WebGLState:",U)}}function zt(){try{i.compressedTexSubImage3D(...arguments)}catch(U){Qt("WebGLState:",U)}}function Xt(){try{i.texStorage2D(...arguments)}catch(U){Qt("WebGLState:",U)}}function C(){try{i.texStorage3D(...arguments)}catch(U){Qt("WebGLState:",U)}}function S(){try{i.texImage2D(...arguments)}catch(U){Qt("WebGLState:",U)}}function X(){try{i.texImage3D(...arguments)}catch(U){Qt("WebGLState:",U)}}function ct(U){return d[U]!==void 0?d[U]:i.getParameter(U)}function rt(U,st){d[U]!==st&&(i.pixelStorei(U,st),d[U]=st)}function _t(U){Q.equals(U)===!1&&(i.scissor(U.x,U.y,U.z,U.w),Q.copy(U))}function vt(U){mt.equals(U)===!1&&(i.viewport(U.x,U.y,U.z,U.w),mt.copy(U))}function tt(U,st){let et=c.get(st);et===void 0&&(et=new WeakMap,c.set(st,et));let wt=et.get(U);wt===void 0&&(wt=i.getUniformBlockIndex(st,U.name),i.uniformBlockBinding(st,wt,wt),et.set(U,wt))}function nt(U,st,et){let gt=c.get(st).get(U);l[gt]!==et&&(i.bindBufferBase(i.UNIFORM_BUFFER,gt,et),l[gt]=et)}function ft(){i.disable(i.BLEND),i.disable(i.CULL_FACE),i.disable(i.DEPTH_TEST),i.disable(i.POLYGON_OFFSET_FILL),i.disable(i.SCISSOR_TEST),i.disable(i.STENCIL_TEST),i.disable(i.SAMPLE_ALPHA_TO_COVERAGE),i.blendEquation(i.FUNC_ADD),i.blendFunc(i.ONE,i.ZERO),i.blendFuncSeparate(i.ONE,i.ZERO,i.ONE,i.ZERO),i.blendColor(0,0,0,0),i.colorMask(!0,!0,!0,!0),i.clearColor(0,0,0,0),i.depthMask(!0),i.depthFunc(i.LESS),o.setReversed(!1),i.clearDepth(1),i.stencilMask(4294967295),i.stencilFunc(i.ALWAYS,0,4294967295),i.stencilOp(i.KEEP,i.KEEP,i.KEEP),i.clearStencil(0),i.cullFace(i.BACK),i.frontFace(i.CCW),i.polygonOffset(0,0),i.activeTexture(i.TEXTURE0),i.bindFramebuffer(i.FRAMEBUFFER,null),i.bindFramebuffer(i.DRAW_FRAMEBUFFER,null),i.bindFramebuffer(i.READ_FRAMEBUFFER,null),i.useProgram(null),i.lineWidth(1),i.scissor(0,0,i.canvas.width,i.canvas.height),i.viewport(0,0,i.canvas.width,i.canvas.height),i.pixelStorei(i.PACK_ALIGNMENT,4),i.pixelStorei(i.UNPACK_ALIGNMENT,4),i.pixelStorei(i.UNPACK_FLIP_Y_WEBGL,!1),i.pixelStorei(i.UNPACK_PREMULTIPLY_ALPHA_WEBGL,!1),i.pixelStorei(i.UNPACK_COLORSPACE_CONVERSION_WEBGL,i.BROWSER_DEFAULT_WEBGL),i.pixelStorei(i.PACK_ROW_LENGTH,0),i.pixelStorei(i.PACK_SKIP_PIXELS,0),i.pixelStorei(i.PACK_SKIP_ROWS,0),i.pixelStorei(i.UNPACK_ROW_LENGTH,0),i.pixelStorei(i.UNPACK_IMAGE_HEIGHT,0),i.pixelStorei(i.UNPACK_SKIP_PIXELS,0),i.pixelStorei(i.UNPACK_SKIP_ROWS,0),i.pixelStorei(i.UNPACK_SKIP_IMAGES,0),h={},d={},j=null,it={},u={},l={},f=new WeakMap,g=[],y=null,m=!1,p=null,v=null,T=null,M=null,P=null,E=null,x=null,A=new ce(0,0,0),k=0,N=!1,D=null,z=null,H=null,L=null,W=null,Q.set(0,0,i.canvas.width,i.canvas.height),mt.set(0,0,i.canvas.width,i.canvas.height),r.reset(),o.reset(),a.reset()}return{buffers:{color:r,depth:o,stencil:a},enable:Mt,disable:Ht,bindFramebuffer:se,drawBuffers:Vt,useProgram:ue,setBlending:Ye,setMaterial:Be,setFlipSided:sn,setCullFace:De,setLineWidth:xn,setPolygonOffset:ve,setScissorTest:dn,activeTexture:$e,bindTexture:rn,unbindTexture:F,compressedTexImage2D:Rt,compressedTexImage3D:Yt,texImage2D:S,texImage3D:X,pixelStorei:rt,getParameter:ct,updateUBOMapping:tt,uniformBlockBinding:nt,texStorage2D:Xt,texStorage3D:C,texSubImage2D:re,texSubImage3D:bt,compressedTexSubImage2D:Ue,compressedTexSubImage3D:zt,scissor:_t,viewport:vt,reset:ft}}function i1(i,t,e,n,s,r,o){let a=t.has("WEBGL_multisampled_render_to_texture")?t.get("WEBGL_multisampled_render_to_texture"):null,l=typeof navigator>"u"?!1:/OculusBrowser/g.test(navigator.userAgent),c=new Kt,h=new WeakMap,d=new Set,u,f=new WeakMap,g=new Set,y=new FinalizationRegistry(C=>g.delete(C)),m=!1;try{m=typeof OffscreenCanvas<"u"&&new OffscreenCanvas(1,1).getContext("2d")!==null}catch{}function p(C,S){return m?new OffscreenCanvas(C,S):aa("canvas")}function v(C,S,X){let ct=1,rt=Xt(C);if((rt.width>X||rt.height>X)&&(ct=X/Math.max(rt.width,rt.height)),ct<1)if(typeof HTMLImageElement<"u"&&C instanceof HTMLImageElement||typeof HTMLCanvasElement<"u"&&C instanceof HTMLCanvasElement||typeof ImageBitmap<"u"&&C instanceof ImageBitmap||typeof VideoFrame<"u"&&C instanceof VideoFrame){let _t=Math.floor(ct*rt.width),vt=Math.floor(ct*rt.height);u===void 0&&(u=p(_t,vt));let tt=S?p(_t,vt):u;return tt.width=_t,tt.height=vt,tt.getContext("2d").drawImage(C,0,0,_t,vt),qt("WebGLRenderer: Texture has been resized from ("+rt.width+"x"+rt.height+") to ("+_t+"x"+vt+")."),tt}else return"data"in C&&qt("WebGLRenderer: Image in DataTexture is too big ("+rt.width+"x"+rt.height+")."),C;return C}function T(C){return C.generateMipmaps}function M(C){i.generateMipmap(C)}function P(C){return C.isWebGLCubeRenderTarget?i.TEXTURE_CUBE_MAP:C.isWebGL3DRenderTarget?i.TEXTURE_3D:C.isWebGLArrayRenderTarget||C.isCompressedArrayTexture?i.TEXTURE_2D_ARRAY:i.TEXTURE_2D}function E(C,S,X,ct,rt,_t=!1){if(C!==null){if(i[C]!==void 0)return i[C];qt("WebGLRenderer: Attempt to use non-existing WebGL internal format '"+C+"'")}let vt;ct&&(vt=t.get("EXT_texture_norm16"),vt||qt("WebGLRenderer: Unable to use normalized textures without EXT_texture_norm16 extension"));let tt=S;if(S===i.RED&&(X===i.FLOAT&&(tt=i.R32F),X===i.HALF_FLOAT&&(tt=i.R16F),X===i.UNSIGNED_BYTE&&(tt=i.R8),X===i.UNSIGNED_SHORT&&vt&&(tt=vt.R16_EXT),X===i.SHORT&&vt&&(tt=vt.R16_SNORM_EXT)),S===i.RED_INTEGER&&(X===i.UNSIGNED_BYTE&&(tt=i.R8UI),X===i.UNSIGNED_SHORT&&(tt=i.R16UI),X===i.UNSIGNED_INT&&(tt=i.R32UI),X===i.BYTE&&(tt=i.R8I),X===i.SHORT&&(tt=i.R16I),X===i.INT&&(tt=i.R32I)),S===i.RG&&(X===i.FLOAT&&(tt=i.RG32F),X===i.HALF_FLOAT&&(tt=i.RG16F),X===i.UNSIGNED_BYTE&&(tt=i.RG8),X===i.UNSIGNED_SHORT&&vt&&(tt=vt.RG16_EXT),X===i.SHORT&&vt&&(tt=vt.RG16_SNORM_EXT)),S===i.RG_INTEGER&&(X===i.UNSIGNED_BYTE&&(tt=i.RG8UI),X===i.UNSIGNED_SHORT&&(tt=i.RG16UI),X===i.UNSIGNED_INT&&(tt=i.RG32UI),X===i.BYTE&&(tt=i.RG8I),X===i.SHORT&&(tt=i.RG16I),X===i.INT&&(tt=i.RG32I)),S===i.RGB_INTEGER&&(X===i.UNSIGNED_BYTE&&(tt=i.RGB8UI),X===i.UNSIGNED_SHORT&&(tt=i.RGB16UI),X===i.UNSIGNED_INT&&(tt=i.RGB32UI),X===i.BYTE&&(tt=i.RGB8I),X===i.SHORT&&(tt=i.RGB16I),X===i.INT&&(tt=i.RGB32I)),S===i.RGBA_INTEGER&&(X===i.UNSIGNED_BYTE&&(tt=i.RGBA8UI),X===i.UNSIGNED_SHORT&&(tt=i.RGBA16UI),X===i.UNSIGNED_INT&&(tt=i.RGBA32UI),X===i.BYTE&&(tt=i.RGBA8I),X===i.SHORT&&(tt=i.RGBA16I),X===i.INT&&(tt=i.RGBA32I)),S===i.RGB&&(X===i.UNSIGNED_SHORT&&vt&&(tt=vt.RGB16_EXT),X===i.SHORT&&vt&&(tt=vt.RGB16_SNORM_EXT),X===i.UNSIGNED_INT_5_9_9_9_REV&&(tt=i.RGB9_E5),X===i.UNSIGNED_INT_10F_11F_11F_REV&&(tt=i.R11F_G11F_B10F)),S===i.RGBA){let nt=_t?oa:_e.getTransfer(rt);X===i.FLOAT&&(tt=i.RGBA32F),X===i.HALF_FLOAT&&(tt=i.RGBA16F),X===i.UNSIGNED_BYTE&&(tt=nt===Te?i.SRGB8_ALPHA8:i.RGBA8),X===i.UNSIGNED_SHORT&&vt&&(tt=vt.RGBA16_EXT),X===i.SHORT&&vt&&(tt=vt.RGBA16_SNORM_EXT),X===i.UNSIGNED_SHORT_4_4_4_4&&(tt=i.RGBA4),X===i.UNSIGNED_SHORT_5_5_5_1&&(tt=i.RGB5_A1)}return(tt===i.R16F||tt===i.R32F||tt===i.RG16F||tt===i.RG32F||tt===i.RGBA16F||tt===i.RGBA32F)&&t.get("EXT_color_buffer_float"),tt}function x(C,S){let X;return C?S===null||S===Oi||S===xr?X=i.DEPTH24_STENCIL8:S===bi?X=i.DEPTH32F_STENCIL8:S===yo&&(X=i.DEPTH24_STENCIL8,qt("DepthTexture: 16 bit depth attachment is not supported with stencil. Using 24-bit attachment.")):S===null||S===Oi||S===xr?X=i.DEPTH_COMPONENT24:S===bi?X=i.DEPTH_COMPONENT32F:S===yo&&(X=i.DEPTH_COMPONENT16),X}function A(C,S){return T(C)===!0||C.isFramebufferTexture&&C.minFilter!==An&&C.minFilter!==Yn?Math.log2(Math.max(S.width,S.height))+1:C.mipmaps.length>0?C.mipmaps.length:C.isCompressedTexture&&Array.isArray(C.image)?S.mipmaps.length:1}function k(C){let S=new WeakRef(C);n.get(C).__ref=S,g.add(S),y.register(C,S,S)}function N(C){let S=n.get(C).__ref;S!==void 0&&(g.delete(S),y.unregister(S))}function D(C){H(C.target)}function z(C){L(C.target)}function H(C){C.removeEventListener("dispose",D),N(C),Y(C),C.isVideoTexture&&h.delete(C),C.isHTMLTexture&&d.delete(C)}function L(C){C.removeEventListener("dispose",z),N(C),lt(C)}function W(){for(let C of g){let S=C.deref();S!==void 0&&(S.isRenderTarget===!0?L(S):H(S))}g.clear(),d.clear()}function Y(C){let S=n.get(C);if(S.__webglInit===void 0)return;let X=C.source,ct=f.get(X);if(ct){let rt=ct[S.__cacheKey];rt.usedTimes--,rt.usedTimes===0&&G(C),Object.keys(ct).length===0&&f.delete(X)}n.remove(C)}function G(C){let S=n.get(C);i.deleteTexture(S.__webglTexture);let X=C.source,ct=f.get(X);delete ct[S.__cacheKey],o.memory.textures--}function lt(C){let S=n.get(C);S.__depthDisposeCallback&&S.__depthDisposeCallback();let X=C.depthTexture;if(X&&X.renderTarget===C&&H(X),C.isWebGLCubeRenderTarget)for(let rt=0;rt<6;rt++){if(Array.isArray(S.__webglFramebuffer[rt]))for(let _t=0;_t<S.__webglFramebuffer[rt].length;_t++)i.deleteFramebuffer(S.__webglFramebuffer[rt][_t]);else i.deleteFramebuffer(S.__webglFramebuffer[rt]);S.__webglDepthbuffer&&i.deleteRenderbuffer(S.__webglDepthbuffer[rt])}else{if(Array.isArray(S.__webglFramebuffer))for(let rt=0;rt<S.__webglFramebuffer.length;rt++)i.deleteFramebuffer(S.__webglFramebuffer[rt]);else i.deleteFramebuffer(S.__webglFramebuffer);if(S.__webglDepthbuffer&&i.deleteRenderbuffer(S.__webglDepthbuffer),S.__webglMultisampledFramebuffer&&i.deleteFramebuffer(S.__webglMultisampledFramebuffer),S.__webglColorRenderbuffer)for(let rt=0;rt<S.__webglColorRenderbuffer.length;rt++)S.__webglColorRenderbuffer[rt]&&i.deleteRenderbuffer(S.__webglColorRenderbuffer[rt]);S.__webglDepthRenderbuffer&&i.deleteRenderbuffer(S.__webglDepthRenderbuffer)}let ct=C.textures;for(let rt=0,_t=ct.length;rt<_t;rt++){let vt=n.get(ct[rt]);vt.__webglTexture&&(i.deleteTexture(vt.__webglTexture),o.memory.textures--),n.remove(ct[rt])}n.remove(C)}let $=0;function j(){$=0}function it(){return $}function ut(C){$=C}function ht(){let C=$;return C>=s.maxTextures&&qt("WebGLTextures: Trying to use "+(C+1)+" texture units while this GPU supports only "+s.maxTextures),$+=1,C}function Q(C){let S=[];return S.push(C.wrapS),S.push(C.wrapT),S.push(C.wrapR||0),S.push(C.magFilter),S.push(C.minFilter),S.push(C.anisotropy),S.push(C.internalFormat),S.push(C.format),S.push(C.type),S.push(C.generateMipmaps),S.push(C.mipmapsAutoUpdate),S.push(C.premultiplyAlpha),S.push(C.flipY),S.push(C.unpackAlignment),S.push(C.colorSpace),S.join()}function mt(C,S){let X=n.get(C);if(C.isVideoTexture&&Ue(C),C.isRenderTargetTexture===!1&&C.isExternalTexture!==!0&&C.version>0&&X.__version!==C.version){let ct=C.image;if(ct===null)qt("WebGLRenderer: Texture marked for update but no image data found.");else if(ct.complete===!1)qt("WebGLRenderer: Texture marked for update but image is incomplete");else{Be(X,C,S);return}}else C.isExternalTexture&&(X.__webglTexture=C.sourceTexture?C.sourceTexture:null);e.bindTexture(i.TEXTURE_2D,X.__webglTexture,i.TEXTURE0+S)}function xt(C,S){let X=n.get(C);if(C.isRenderTargetTexture===!1&&C.version>0&&X.__version!==C.version){Be(X,C,S);return}else C.isExternalTexture&&(X.__webglTexture=C.sourceTexture?C.sourceTexture:null);e.bindTexture(i.TEXTURE_2D_ARRAY,X.__webglTexture,i.TEXTURE0+S)}function Tt(C,S){let X=n.get(C);if(C.isRenderTargetTexture===!1&&C.version>0&&X.__version!==C.version){Be(X,C,S);return}e.bindTexture(i.TEXTURE_3D,X.__webglTexture,i.TEXTURE0+S)}function Mt(C,S){let X=n.get(C);if(C.version>0&&X.__version!==C.version){sn(X,C,S);return}e.bindTexture(i.TEXTURE_CUBE_MAP,X.__webglTexture,i.TEXTURE0+S)}let Ht={[oc]:i.REPEAT,[Ki]:i.CLAMP_TO_EDGE,[ac]:i.MIRRORED_REPEAT},se={[An]:i.NEAREST,[Og]:i.NEAREST_MIPMAP_NEAREST,[Oa]:i.NEAREST_MIPMAP_LINEAR,[Yn]:i.LINEAR,[Nc]:i.LINEAR_MIPMAP_NEAREST,[Ms]:i.LINEAR_MIPMAP_LINEAR},Vt={[Vg]:i.NEVER,[kd]:i.ALWAYS,[Gg]:i.LESS,[Od]:i.LEQUAL,[Hg]:i.EQUAL,[Bd]:i.GEQUAL,[Wg]:i.GREATER,[Xg]:i.NOTEQUAL};function ue(C,S){if(S.type===bi&&t.has("OES_texture_float_linear")===!1&&(S.magFilter===Yn||S.magFilter===Nc||S.magFilter===Oa||S.magFilter===Ms||S.minFilter===Yn||S.minFilter===Nc||S.minFilter===Oa||S.minFilter===Ms)&&qt("WebGLRenderer: Unable to use linear filtering with floating point textures. OES_texture_float_linear not supported on this device."),i.texParameteri(C,i.TEXTURE_WRAP_S,Ht[S.wrapS]),i.texParameteri(C,i.TEXTURE_WRAP_T,Ht[S.wrapT]),(C===i.TEXTURE_3D||C===i.TEXTURE_2D_ARRAY)&&i.texParameteri(C,i.TEXTURE_WRAP_R,Ht[S.wrapR]),i.texParameteri(C,i.TEXTURE_MAG_FILTER,se[S.magFilter]),i.texParameteri(C,i.TEXTURE_MIN_FILTER,se[S.minFilter]),S.compareFunction&&(i.texParameteri(C,i.TEXTURE_COMPARE_MODE,i.COMPARE_REF_TO_TEXTURE),i.texParameteri(C,i.TEXTURE_COMPARE_FUNC,Vt[S.compareFunction])),t.has("EXT_texture_filter_anisotropic")===!0){if(S.magFilter===An||S.minFilter!==Oa&&S.minFilter!==Ms||S.type===bi&&t.has("OES_texture_float_linear")===!1)return;if(S.anisotropy>1||n.get(S).__currentAnisotropy){let X=t.get("EXT_texture_filter_anisotropic");i.texParameterf(C,X.TEXTURE_MAX_ANISOTROPY_EXT,Math.min(S.anisotropy,s.getMaxAnisotropy())),n.get(S).__currentAnisotropy=S.anisotropy}}}function ae(C,S){let X=!1;C.__webglInit===void 0&&(C.__webglInit=!0,S.addEventListener("dispose",D),k(S));let ct=S.source,rt=f.get(ct);rt===void 0&&(rt={},f.set(ct,rt));let _t=Q(S);if(_t!==C.__cacheKey){rt[_t]===void 0&&(rt[_t]={texture:i.createTexture(),usedTimes:0},o.memory.textures++,X=!0),rt[_t].usedTimes++;let vt=rt[C.__cacheKey];vt!==void 0&&(rt[C.__cacheKey].usedTimes--,vt.usedTimes===0&&G(S)),C.__cacheKey=_t,C.__webglTexture=rt[_t].texture}return X}function ee(C,S,X){return Math.floor(Math.floor(C/X)/S)}function Ye(C,S,X,ct){let _t=C.updateRanges;if(_t.length===0)e.texSubImage2D(i.TEXTURE_2D,0,0,0,S.width,S.height,X,ct,S.data);else{_t.sort((U,st)=>U.start-st.start);let vt=0;for(let U=1;U<_t.length;U++){let st=_t[vt],et=_t[U],wt=st.start+st.count,gt=ee(et.start,S.width,4),St=ee(st.start,S.width,4);et.start<=wt+1&&gt===St&&ee(et.start+et.count-1,S.width,4)===gt?st.count=Math.max(st.count,et.start+et.count-st.start):(++vt,_t[vt]=et)}_t.length=vt+1;let tt=e.getParameter(i.UNPACK_ROW_LENGTH),nt=e.getParameter(i.UNPACK_SKIP_PIXELS),ft=e.getParameter(i.UNPACK_SKIP_ROWS);e.pixelStorei(i.UNPACK_ROW_LENGTH,S.width);for(let U=0,st=_t.length;U<st;U++){let et=_t[U],wt=Math.floor(et.start/4),gt=Math.ceil(et.count/4),St=wt%S.width,Gt=Math.floor(wt/S.width),Jt=gt,at=1;e.pixelStorei(i.UNPACK_SKIP_PIXELS,St),e.pixelStorei(i.UNPACK_SKIP_ROWS,Gt),e.texSubImage2D(i.TEXTURE_2D,0,St,Gt,Jt,at,X,ct,S.data)}C.clearUpdateRanges(),e.pixelStorei(i.UNPACK_ROW_LENGTH,tt),e.pixelStorei(i.UNPACK_SKIP_PIXELS,nt),e.pixelStorei(i.UNPACK_SKIP_ROWS,ft)}}function Be(C,S,X){let ct=i.TEXTURE_2D;(S.isDataArrayTexture||S.isCompressedArrayTexture)&&(ct=i.TEXTURE_2D_ARRAY),S.isData3DTexture&&(ct=i.TEXTURE_3D);let rt=ae(C,S),_t=S.source;e.bindTexture(ct,C.__webglTexture,i.TEXTURE0+X);let vt=n.get(_t);if(_t.version!==vt.__version||rt===!0){if(e.activeTexture(i.TEXTURE0+X),(typeof ImageBitmap<"u"&&S.image instanceof ImageBitmap)===!1){let at=_e.getPrimaries(_e.workingColorSpace),Ot=S.colorSpace===ws?null:_e.getPrimaries(S.colorSpace),$t=S.colorSpace===ws||at===Ot?i.NONE:i.BROWSER_DEFAULT_WEBGL;e.pixelStorei(i.UNPACK_FLIP_Y_WEBGL,S.flipY),e.pixelStorei(i.UNPACK_PREMULTIPLY_ALPHA_WEBGL,S.premultiplyAlpha),e.pixelStorei(i.UNPACK_COLORSPACE_CONVERSION_WEBGL,$t)}e.pixelStorei(i.UNPACK_ALIGNMENT,S.unpackAlignment);let nt=v(S.image,!1,s.maxTextureSize);nt=zt(S,nt);let ft=r.convert(S.format,S.colorSpace),U=r.convert(S.type),st=E(S.internalFormat,ft,U,S.normalized,S.colorSpace,S.isVideoTexture);ue(ct,S);let et,wt=S.mipmaps,gt=S.isVideoTexture!==!0,St=vt.__version===void 0||rt===!0,Gt=_t.dataReady,Jt=A(S,nt);if(S.isDepthTexture)st=x(S.format===bs,S.type),St&&(gt?e.texStorage2D(i.TEXTURE_2D,1,st,nt.width,nt.height):e.texImage2D(i.TEXTURE_2D,0,st,nt.width,nt.height,0,ft,U,null));else if(S.isDataTexture)if(wt.length>0){gt&&St&&e.texStorage2D(i.TEXTURE_2D,Jt,st,wt[0].width,wt[0].height);for(let at=0,Ot=wt.length;at<Ot;at++)et=wt[at],gt?Gt&&e.texSubImage2D(i.TEXTURE_2D,at,0,0,et.width,et.height,ft,U,et.data):e.texImage2D(i.TEXTURE_2D,at,st,et.width,et.height,0,ft,U,et.data);S.generateMipmaps=!1}else gt?(St&&e.texStorage2D(i.TEXTURE_2D,Jt,st,nt.width,nt.height),Gt&&Ye(S,nt,ft,U)):e.texImage2D(i.TEXTURE_2D,0,st,nt.width,nt.height,0,ft,U,nt.data);else if(S.isCompressedTexture)if(S.isCompressedArrayTexture){gt&&St&&e.texStorage3D(i.TEXTURE_2D_ARRAY,Jt,st,wt[0].width,wt[0].height,nt.depth);for(let at=0,Ot=wt.length;at<Ot;at++)if(et=wt[at],S.format!==ki)if(ft!==null)if(gt){if(Gt)if(S.layerUpdates.size>0){let $t=$d(et.width,et.height,S.format,S.type);for(let Ct of S.layerUpdates){let oe=et.data.subarray(Ct*$t/et.data.BYTES_PER_ELEMENT,(Ct+1)*$t/et.data.BYTES_PER_ELEMENT);e.compressedTexSubImage3D(i.TEXTURE_2D_ARRAY,at,0,0,Ct,et.width,et.height,1,ft,oe)}}else e.compressedTexSubImage3D(i.TEXTURE_2D_ARRAY,at,0,0,0,et.width,et.height,nt.depth,ft,et.data)}else e.compressedTexImage3D(i.TEXTURE_2D_ARRAY,at,st,et.width,et.height,nt.depth,0,et.data,0,0);else qt("WebGLRenderer: Attempt to load unsupported compressed texture format in .uploadTexture()");else gt?Gt&&e.texSubImage3D(i.TEXTURE_2D_ARRAY,at,0,0,0,et.width,et.height,nt.depth,ft,U,et.data):e.texImage3D(i.TEXTURE_2D_ARRAY,at,st,et.width,et.height,nt.depth,0,ft,U,et.data);S.layerUpdates.size>0&&S.clearLayerUpdates()}else{gt&&St&&e.texStorage2D(i.TEXTURE_2D,Jt,st,wt[0].width,wt[0].height);for(let at=0,Ot=wt.length;at<Ot;at++)et=wt[at],S.format!==ki?ft!==null?gt?Gt&&e.compressedTexSubImage2D(i.TEXTURE_2D,at,0,0,et.width,et.height,ft,et.data):e.compressedTexImage2D(i.TEXTURE_2D,at,st,et.width,et.height,0,et.data):qt("WebGLRenderer: Attempt to load unsupported compressed texture format in .uploadTexture()"):gt?Gt&&e.texSubImage2D(i.TEXTURE_2D,at,0,0,et.width,et.height,ft,U,et.data):e.texImage2D(i.TEXTURE_2D,at,st,et.width,et.height,0,ft,U,et.data)}else if(S.isDataArrayTexture)if(gt){if(St&&e.texStorage3D(i.TEXTURE_2D_ARRAY,Jt,st,nt.width,nt.height,nt.depth),Gt)if(S.layerUpdates.size>0){let at=$d(nt.width,nt.height,S.format,S.type);for(let Ot of S.layerUpdates){let $t=nt.data.subarray(Ot*at/nt.data.BYTES_PER_ELEMENT,(Ot+1)*at/nt.data.BYTES_PER_ELEMENT);e.texSubImage3D(i.TEXTURE_2D_ARRAY,0,0,0,Ot,nt.width,nt.height,1,ft,U,$t)}S.clearLayerUpdates()}else e.texSubImage3D(i.TEXTURE_2D_ARRAY,0,0,0,0,nt.width,nt.height,nt.depth,ft,U,nt.data)}else e.texImage3D(i.TEXTURE_2D_ARRAY,0,st,nt.width,nt.height,nt.depth,0,ft,U,nt.data);else if(S.isData3DTexture)gt?(St&&e.texStorage3D(i.TEXTURE_3D,Jt,st,nt.width,nt.height,nt.depth),Gt&&e.texSubImage3D(i.TEXTURE_3D,0,0,0,0,nt.width,nt.height,nt.depth,ft,U,nt.data)):e.texImage3D(i.TEXTURE_3D,0,st,nt.width,nt.height,nt.depth,0,ft,U,nt.data);else if(S.isFramebufferTexture){if(St)if(gt)e.texStorage2D(i.TEXTURE_2D,Jt,st,nt.width,nt.height);else{let at=nt.width,Ot=nt.height;for(let $t=0;$t<Jt;$t++)e.texImage2D(i.TEXTURE_2D,$t,st,at,Ot,0,ft,U,null),at>>=1,Ot>>=1}}else if(S.isHTMLTexture){if("texElementImage2D"in i){let at=i.canvas;if(at.hasAttribute("layoutsubtree")||at.setAttribute("layoutsubtree","true"),nt.parentNode!==at){at.appendChild(nt),d.add(S),at.onpaint=Ot=>{let $t=Ot.changedElements;for(let Ct of d)$t.includes(Ct.image)&&(Ct.needsUpdate=!0)},at.requestPaint();return}if(i.texElementImage2D.length===3)i.texElementImage2D(i.TEXTURE_2D,i.RGBA8,nt);else{let $t=i.RGBA,Ct=i.RGBA,oe=i.UNSIGNED_BYTE;i.texElementImage2D(i.TEXTURE_2D,0,$t,Ct,oe,nt)}i.texParameteri(i.TEXTURE_2D,i.TEXTURE_MIN_FILTER,i.LINEAR),i.texParameteri(i.TEXTURE_2D,i.TEXTURE_WRAP_S,i.CLAMP_TO_EDGE),i.texParameteri(i.TEXTURE_2D,i.TEXTURE_WRAP_T,i.CLAMP_TO_EDGE)}}else if(wt.length>0){if(gt&&St){let at=Xt(wt[0]);e.texStorage2D(i.TEXTURE_2D,Jt,st,at.width,at.height)}for(let at=0,Ot=wt.length;at<Ot;at++)et=wt[at],gt?Gt&&e.texSubImage2D(i.TEXTURE_2D,at,0,0,ft,U,et):e.texImage2D(i.TEXTURE_2D,at,st,ft,U,et);S.generateMipmaps=!1}else if(gt){if(St){let at=Xt(nt);e.texStorage2D(i.TEXTURE_2D,Jt,st,at.width,at.height)}Gt&&e.texSubImage2D(i.TEXTURE_2D,0,0,0,ft,U,nt)}else e.texImage2D(i.TEXTURE_2D,0,st,ft,U,nt);T(S)&&S.mipmapsAutoUpdate===!0&&M(ct),vt.__version=_t.version,S.onUpdate&&S.onUpdate(S)}C.__version=S.version}function sn(C,S,X){if(S.image.length!==6)return;let ct=ae(C,S),rt=S.source;e.bindTexture(i.TEXTURE_CUBE_MAP,C.__webglTexture,i.TEXTURE0+X);let _t=n.get(rt);if(rt.version!==_t.__version||ct===!0){e.activeTexture(i.TEXTURE0+X);let vt=_e.getPrimaries(_e.workingColorSpace),tt=S.colorSpace===ws?null:_e.getPrimaries(S.colorSpace),nt=S.colorSpace===ws||vt===tt?i.NONE:i.BROWSER_DEFAULT_WEBGL;e.pixelStorei(i.UNPACK_FLIP_Y_WEBGL,S.flipY),e.pixelStorei(i.UNPACK_PREMULTIPLY_ALPHA_WEBGL,S.premultiplyAlpha),e.pixelStorei(i.UNPACK_ALIGNMENT,S.unpackAlignment),e.pixelStorei(i.UNPACK_COLORSPACE_CONVERSION_WEBGL,nt);let ft=S.isCompressedTexture||S.image[0].isCompressedTexture,U=S.image[0]&&S.image[0].isDataTexture,st=[];for(let Ct=0;Ct<6;Ct++)!ft&&!U?st[Ct]=v(S.image[Ct],!0,s.maxCubemapSize):st[Ct]=U?S.image[Ct].image:S.image[Ct],st[Ct]=zt(S,st[Ct]);let et=st[0],wt=r.convert(S.format,S.colorSpace),gt=r.convert(S.type),St=E(S.internalFormat,wt,gt,S.normalized,S.colorSpace),Gt=S.isVideoTexture!==!0,Jt=_t.__version===void 0||ct===!0,at=rt.dataReady,Ot=A(S,et);ue(i.TEXTURE_CUBE_MAP,S);let $t;if(S.isDepthTexture){if(St=x(S.format===bs,S.type),Jt)if(Gt)e.texStorage2D(i.TEXTURE_CUBE_MAP,1,St,et.width,et.height);else for(let Ct=0;Ct<6;Ct++)e.texImage2D(i.TEXTURE_CUBE_MAP_POSITIVE_X+Ct,0,St,et.width,et.height,0,wt,gt,null)}else if(ft){Gt&&Jt&&e.texStorage2D(i.TEXTURE_CUBE_MAP,Ot,St,et.width,et.height);for(let Ct=0;Ct<6;Ct++){$t=st[Ct].mipmaps;for(let oe=0;oe<$t.length;oe++){let ke=$t[oe];S.format!==ki?wt!==null?Gt?at&&e.compressedTexSubImage2D(i.TEXTURE_CUBE_MAP_POSITIVE_X+Ct,oe,0,0,ke.width,ke.height,wt,ke.data):e.compressedTexImage2D(i.TEXTURE_CUBE_MAP_POSITIVE_X+Ct,oe,St,ke.width,ke.height,0,ke.data):qt("WebGLRenderer: Attempt to load unsupported compressed texture format in .setTextureCube()"):Gt?at&&e.texSubImage2D(i.TEXTURE_CUBE_MAP_POSITIVE_X+Ct,oe,0,0,ke.width,ke.height,wt,gt,ke.data):e.texImage2D(i.TEXTURE_CUBE_MAP_POSITIVE_X+Ct,oe,St,ke.width,ke.height,0,wt,gt,ke.data)}}}else{if($t=S.mipmaps,Gt&&Jt){$t.length>0&&Ot++;let Ct=Xt(st[0]);e.texStorage2D(i.TEXTURE_CUBE_MAP,Ot,St,Ct.width,Ct.height)}for(let Ct=0;Ct<6;Ct++)if(U){Gt?at&&e.texSubImage2D(i.TEXTURE_CUBE_MAP_POSITIVE_X+Ct,0,0,0,st[Ct].width,st[Ct].height,wt,gt,st[Ct].data):e.texImage2D(i.TEXTURE_CUBE_MAP_POSITIVE_X+Ct,0,St,st[Ct].width,st[Ct].height,0,wt,gt,st[Ct].data);for(let oe=0;oe<$t.length;oe++){let kn=$t[oe].image[Ct].image;Gt?at&&e.texSubImage2D(i.TEXTURE_CUBE_MAP_POSITIVE_X+Ct,oe+1,0,0,kn.width,kn.height,wt,gt,kn.data):e.texImage2D(i.TEXTURE_CUBE_MAP_POSITIVE_X+Ct,oe+1,St,kn.width,kn.height,0,wt,gt,kn.data)}}else{Gt?at&&e.texSubImage2D(i.TEXTURE_CUBE_MAP_POSITIVE_X+Ct,0,0,0,wt,gt,st[Ct]):e.texImage2D(i.TEXTURE_CUBE_MAP_POSITIVE_X+Ct,0,St,wt,gt,st[Ct]);for(let oe=0;oe<$t.length;oe++){let ke=$t[oe];Gt?at&&e.texSubImage2D(i.TEXTURE_CUBE_MAP_POSITIVE_X+Ct,oe+1,0,0,wt,gt,ke.image[Ct]):e.texImage2D(i.TEXTURE_CUBE_MAP_POSITIVE_X+Ct,oe+1,St,wt,gt,ke.image[Ct])}}}T(S)&&S.mipmapsAutoUpdate===!0&&M(i.TEXTURE_CUBE_MAP),_t.__version=rt.version,S.onUpdate&&S.onUpdate(S)}C.__version=S.version}function De(C,S,X,ct,rt,_t){let vt=r.convert(X.format,X.colorSpace),tt=r.convert(X.type),nt=E(X.internalFormat,vt,tt,X.normalized,X.colorSpace),ft=n.get(S),U=n.get(X);if(U.__renderTarget=S,!ft.__hasExternalTextures){let st=Math.max(1,S.width>>_t),et=Math.max(1,S.height>>_t);rt===i.TEXTURE_3D||rt===i.TEXTURE_2D_ARRAY?e.texImage3D(rt,_t,nt,st,et,S.depth,0,vt,tt,null):e.texImage2D(rt,_t,nt,st,et,0,vt,tt,null)}e.bindFramebuffer(i.FRAMEBUFFER,C),bt(S)?a.framebufferTexture2DMultisampleEXT(i.FRAMEBUFFER,ct,rt,U.__webglTexture,0,re(S)):(rt===i.TEXTURE_2D||rt>=i.TEXTURE_CUBE_MAP_POSITIVE_X&&rt<=i.TEXTURE_CUBE_MAP_NEGATIVE_Z)&&i.framebufferTexture2D(i.FRAMEBUFFER,ct,rt,U.__webglTexture,_t),e.bindFramebuffer(i.FRAMEBUFFER,null)}function xn(C,S,X){if(i.bindRenderbuffer(i.RENDERBUFFER,C),S.depthBuffer){let ct=S.depthTexture,rt=ct&&ct.isDepthTexture?ct.type:null,_t=x(S.stencilBuffer,rt),vt=S.stencilBuffer?i.DEPTH_STENCIL_ATTACHMENT:i.DEPTH_ATTACHMENT;bt(S)?a.renderbufferStorageMultisampleEXT(i.RENDERBUFFER,re(S),_t,S.width,S.height):X?i.renderbufferStorageMultisample(i.RENDERBUFFER,re(S),_t,S.width,S.height):i.renderbufferStorage(i.RENDERBUFFER,_t,S.width,S.height),i.framebufferRenderbuffer(i.FRAMEBUFFER,vt,i.RENDERBUFFER,C)}else{let ct=S.textures;for(let rt=0;rt<ct.length;rt++){let _t=ct[rt],vt=r.convert(_t.format,_t.colorSpace),tt=r.convert(_t.type),nt=E(_t.internalFormat,vt,tt,_t.normalized,_t.colorSpace);bt(S)?a.renderbufferStorageMultisampleEXT(i.RENDERBUFFER,re(S),nt,S.width,S.height):X?i.renderbufferStorageMultisample(i.RENDERBUFFER,re(S),nt,S.width,S.height):i.renderbufferStorage(i.RENDERBUFFER,nt,S.width,S.height)}}i.bindRenderbuffer(i.RENDERBUFFER,null)}function ve(C,S,X){let ct=S.isWebGLCubeRenderTarget===!0;if(e.bindFramebuffer(i.FRAMEBUFFER,C),!(S.depthTexture&&S.depthTexture.isDepthTexture))throw new Error("THREE.WebGLTextures: renderTarget.depthTexture must be an instance of THREE.DepthTexture.");let rt=n.get(S.depthTexture);rt.__renderTarget=S;let _t=ct?S.depthTexture.image[0]:S.depthTexture.image;(!rt.__webglTexture||_t.width!==S.width||_t.height!==S.height)&&(_t.width=S.width,_t.height=S.height,S.depthTexture.needsUpdate=!0),ct?Mt(S.depthTexture,0):mt(S.depthTexture,0);let vt=rt.__webglTexture,tt=re(S),nt=ct?i.TEXTURE_CUBE_MAP_POSITIVE_X+X:i.TEXTURE_2D,ft=S.depthTexture.format===bs?i.DEPTH_STENCIL_ATTACHMENT:i.DEPTH_ATTACHMENT;if(S.depthTexture.format===xs)bt(S)?a.framebufferTexture2DMultisampleEXT(i.FRAMEBUFFER,ft,nt,vt,0,tt):i.framebufferTexture2D(i.FRAMEBUFFER,ft,nt,vt,0);else if(S.depthTexture.format===bs)bt(S)?a.framebufferTexture2DMultisampleEXT(i.FRAMEBUFFER,ft,nt,vt,0,tt):i.framebufferTexture2D(i.FRAMEBUFFER,ft,nt,vt,0);else throw new Error("THREE.WebGLTextures: Unknown depthTexture format.")}function dn(C){let S=n.get(C),X=C.isWebGLCubeRenderTarget===!0;if(S.__boundDepthTexture!==C.depthTexture){let ct=C.depthTexture;if(S.__depthDisposeCallback&&S.__depthDisposeCallback(),ct){let rt=()=>{delete S.__boundDepthTexture,delete S.__depthDisposeCallback,ct.removeEventListener("dispose",rt)};ct.addEventListener("dispose",rt),S.__depthDisposeCallback=rt}S.__boundDepthTexture=ct}if(C.depthTexture&&!S.__autoAllocateDepthBuffer)if(X)for(let ct=0;ct<6;ct++)ve(S.__webglFramebuffer[ct],C,ct);else C.texture.mipmaps.length>0?ve(S.__webglFramebuffer[0],C,0):ve(S.__webglFramebuffer,C,0);else if(X){S.__webglDepthbuffer=[];for(let ct=0;ct<6;ct++)if(e.bindFramebuffer(i.FRAMEBUFFER,S.__webglFramebuffer[ct]),S.__webglDepthbuffer[ct]===void 0)S.__webglDepthbuffer[ct]=i.createRenderbuffer(),xn(S.__webglDepthbuffer[ct],C,!1);else{let rt=C.stencilBuffer?i.DEPTH_STENCIL_ATTACHMENT:i.DEPTH_ATTACHMENT,_t=S.__webglDepthbuffer[ct];i.bindRenderbuffer(i.RENDERBUFFER,_t),i.framebufferRenderbuffer(i.FRAMEBUFFER,rt,i.RENDERBUFFER,_t)}}else if(C.texture.mipmaps.length>0?e.bindFramebuffer(i.FRAMEBUFFER,S.__webglFramebuffer[0]):e.bindFramebuffer(i.FRAMEBUFFER,S.__webglFramebuffer),S.__webglDepthbuffer===void 0)S.__webglDepthbuffer=i.createRenderbuffer(),xn(S.__webglDepthbuffer,C,!1);else{let rt=C.stencilBuffer?i.DEPTH_STENCIL_ATTACHMENT:i.DEPTH_ATTACHMENT,_t=S.__webglDepthbuffer;i.bindRenderbuffer(i.RENDERBUFFER,_t),i.framebufferRenderbuffer(i.FRAMEBUFFER,rt,i.RENDERBUFFER,_t)}e.bindFramebuffer(i.FRAMEBUFFER,null)}function $e(C,S,X){let ct=n.get(C);S!==void 0&&De(ct.__webglFramebuffer,C,C.texture,i.COLOR_ATTACHMENT0,i.TEXTURE_2D,0),X!==void 0&&dn(C)}function rn(C){let S=C.texture,X=n.get(C),ct=n.get(S);C.addEventListener("dispose",z),k(C);let rt=C.textures,_t=C.isWebGLCubeRenderTarget===!0,vt=rt.length>1;if(vt||(ct.__webglTexture===void 0&&(ct.__webglTexture=i.createTexture()),ct.__version=S.version,o.memory.textures++),_t){X.__webglFramebuffer=[];for(let tt=0;tt<6;tt++)if(S.mipmaps.length>0){X.__webglFramebuffer[tt]=[];for(let nt=0;nt<S.mipmaps.length;nt++)X.__webglFramebuffer[tt][nt]=i.createFramebuffer()}else X.__webglFramebuffer[tt]=i.createFramebuffer()}else{if(S.mipmaps.length>0){X.__webglFramebuffer=[];for(let tt=0;tt<S.mipmaps.length;tt++)X.__webglFramebuffer[tt]=i.createFramebuffer()}else X.__webglFramebuffer=i.createFramebuffer();if(vt)for(let tt=0,nt=rt.length;tt<nt;tt++){let ft=n.get(rt[tt]);ft.__webglTexture===void 0&&(ft.__webglTexture=i.createTexture(),o.memory.textures++)}if(C.samples>0&&bt(C)===!1){X.__webglMultisampledFramebuffer=i.createFramebuffer(),X.__webglColorRenderbuffer=[],e.bindFramebuffer(i.FRAMEBUFFER,X.__webglMultisampledFramebuffer);for(let tt=0;tt<rt.length;tt++){let nt=rt[tt];X.__webglColorRenderbuffer[tt]=i.createRenderbuffer(),i.bindRenderbuffer(i.RENDERBUFFER,X.__webglColorRenderbuffer[tt]);let ft=r.convert(nt.format,nt.colorSpace),U=r.convert(nt.type),st=E(nt.internalFormat,ft,U,nt.normalized,nt.colorSpace,C.isXRRenderTarget===!0),et=re(C);i.renderbufferStorageMultisample(i.RENDERBUFFER,et,st,C.width,C.height),i.framebufferRenderbuffer(i.FRAMEBUFFER,i.COLOR_ATTACHMENT0+tt,i.RENDERBUFFER,X.__webglColorRenderbuffer[tt])}i.bindRenderbuffer(i.RENDERBUFFER,null),C.depthBuffer&&(X.__webglDepthRenderbuffer=i.createRenderbuffer(),xn(X.__webglDepthRenderbuffer,C,!0)),e.bindFramebuffer(i.FRAMEBUFFER,null)}}if(_t){e.bindTexture(i.TEXTURE_CUBE_MAP,ct.__webglTexture),ue(i.TEXTURE_CUBE_MAP,S);for(let tt=0;tt<6;tt++)if(S.mipmaps.length>0)for(let nt=0;nt<S.mipmaps.length;nt++)De(X.__webglFramebuffer[tt][nt],C,S,i.COLOR_ATTACHMENT0,i.TEXTURE_CUBE_MAP_POSITIVE_X+tt,nt);else De(X.__webglFramebuffer[tt],C,S,i.COLOR_ATTACHMENT0,i.TEXTURE_CUBE_MAP_POSITIVE_X+tt,0);T(S)?M(i.TEXTURE_CUBE_MAP):S.mipmaps.length>0&&i.texParameteri(i.TEXTURE_CUBE_MAP,i.TEXTURE_MAX_LEVEL,S.mipmaps.length-1),e.unbindTexture()}else if(vt){for(let tt=0,nt=rt.length;tt<nt;tt++){let ft=rt[tt],U=n.get(ft),st=i.TEXTURE_2D;(C.isWebGL3DRenderTarget||C.isWebGLArrayRenderTarget)&&(st=C.isWebGL3DRenderTarget?i.TEXTURE_3D:i.TEXTURE_2D_ARRAY),e.bindTexture(st,U.__webglTexture),ue(st,ft),De(X.__webglFramebuffer,C,ft,i.COLOR_ATTACHMENT0+tt,st,0),T(ft)&&M(st)}e.unbindTexture()}else{let tt=i.TEXTURE_2D;if((C.isWebGL3DRenderTarget||C.isWebGLArrayRenderTarget)&&(tt=C.isWebGL3DRenderTarget?i.TEXTURE_3D:i.TEXTURE_2D_ARRAY),e.bindTexture(tt,ct.__webglTexture),ue(tt,S),S.mipmaps.length>0)for(let nt=0;nt<S.mipmaps.length;nt++)De(X.__webglFramebuffer[nt],C,S,i.COLOR_ATTACHMENT0,tt,nt);else De(X.__webglFramebuffer,C,S,i.COLOR_ATTACHMENT0,tt,0);T(S)?M(tt):S.mipmaps.length>0&&i.texParameteri(tt,i.TEXTURE_MAX_LEVEL,S.mipmaps.length-1),e.unbindTexture()}C.depthBuffer&&dn(C)}function F(C){let S=C.textures;for(let X=0,ct=S.length;X<ct;X++){let rt=S[X];if(T(rt)&&rt.mipmapsAutoUpdate===!0){let _t=P(C),vt=n.get(rt).__webglTexture;e.bindTexture(_t,vt),M(_t),e.unbindTexture()}}}let Rt=[];function Yt(C){if(C.samples>0){if(bt(C)===!1){let S=C.textures,X=C.width,ct=C.height,rt=i.COLOR_BUFFER_BIT,_t=C.stencilBuffer?i.DEPTH_STENCIL_ATTACHMENT:i.DEPTH_ATTACHMENT,vt=n.get(C),tt=S.length>1;if(tt)for(let ft=0;ft<S.length;ft++)e.bindFramebuffer(i.FRAMEBUFFER,vt.__webglMultisampledFramebuffer),i.framebufferRenderbuffer(i.FRAMEBUFFER,i.COLOR_ATTACHMENT0+ft,i.RENDERBUFFER,null),e.bindFramebuffer(i.FRAMEBUFFER,vt.__webglFramebuffer),i.framebufferTexture2D(i.DRAW_FRAMEBUFFER,i.COLOR_ATTACHMENT0+ft,i.TEXTURE_2D,null,0);e.bindFramebuffer(i.READ_FRAMEBUFFER,vt.__webglMultisampledFramebuffer),C.texture.mipmaps.length>0?e.bindFramebuffer(i.DRAW_FRAMEBUFFER,vt.__webglFramebuffer[0]):e.bindFramebuffer(i.DRAW_FRAMEBUFFER,vt.__webglFramebuffer);for(let ft=0;ft<S.length;ft++){if(C.resolveDepthBuffer&&(C.depthBuffer&&(rt|=i.DEPTH_BUFFER_BIT),C.stencilBuffer&&C.resolveStencilBuffer&&(rt|=i.STENCIL_BUFFER_BIT)),tt){i.framebufferRenderbuffer(i.READ_FRAMEBUFFER,i.COLOR_ATTACHMENT0,i.RENDERBUFFER,vt.__webglColorRenderbuffer[ft]);let U=n.get(S[ft]).__webglTexture;i.framebufferTexture2D(i.DRAW_FRAMEBUFFER,i.COLOR_ATTACHMENT0,i.TEXTURE_2D,U,0)}i.blitFramebuffer(0,0,X,ct,0,0,X,ct,rt,i.NEAREST),l===!0&&(Rt.length=0,Rt.push(i.COLOR_ATTACHMENT0+ft),C.depthBuffer&&C.storeMultisampledDepthBuffer===!1&&Rt.push(_t),i.invalidateFramebuffer(i.READ_FRAMEBUFFER,Rt))}if(e.bindFramebuffer(i.READ_FRAMEBUFFER,null),e.bindFramebuffer(i.DRAW_FRAMEBUFFER,null),tt)for(let ft=0;ft<S.length;ft++){e.bindFramebuffer(i.FRAMEBUFFER,vt.__webglMultisampledFramebuffer),i.framebufferRenderbuffer(i.FRAMEBUFFER,i.COLOR_ATTACHMENT0+ft,i.RENDERBUFFER,vt.__webglColorRenderbuffer[ft]);let U=n.get(S[ft]).__webglTexture;e.bindFramebuffer(i.FRAMEBUFFER,vt.__webglFramebuffer),i.framebufferTexture2D(i.DRAW_FRAMEBUFFER,i.COLOR_ATTACHMENT0+ft,i.TEXTURE_2D,U,0)}e.bindFramebuffer(i.DRAW_FRAMEBUFFER,vt.__webglMultisampledFramebuffer)}else if(C.depthBuffer&&C.storeMultisampledDepthBuffer===!1&&l){let S=C.stencilBuffer?i.DEPTH_STENCIL_ATTACHMENT:i.DEPTH_ATTACHMENT;i.invalidateFramebuffer(i.DRAW_FRAMEBUFFER,[S])}}}function re(C){return Math.min(s.maxSamples,C.samples)}function bt(C){let S=n.get(C);return C.samples>0&&t.has("WEBGL_multisampled_render_to_texture")===!0&&S.__useRenderToTexture!==!1}function Ue(C){let S=o.render.frame;h.get(C)!==S&&(h.set(C,S),C.update())}function zt(C,S){let X=C.colorSpace,ct=C.format,rt=C.type;return C.isCompressedTexture===!0||C.isVideoTexture===!0||X!==ra&&X!==ws&&(_e.getTransfer(X)===Te?(ct!==ki||rt!==jn)&&qt("WebGLTextures: sRGB encoded textures have to use RGBAFormat and UnsignedByteType."):Qt("WebGLTextures: Unsupported texture color space:",X)),S}function Xt(C){return typeof HTMLImageElement<"u"&&C instanceof HTMLImageElement?(c.width=C.naturalWidth||C.width,c.height=C.naturalHeight||C.height):typeof VideoFrame<"u"&&C instanceof VideoFrame?(c.width=C.displayWidth,c.height=C.displayHeight):(c.width=C.width,c.height=C.height),c}this.allocateTextureUnit=ht,this.resetTextureUnits=j,this.getTextureUnits=it,this.setTextureUnits=ut,this.setTexture2D=mt,this.setTexture2DArray=xt,this.setTexture3D=Tt,this.setTextureCube=Mt,this.rebindTextures=$e,this.setupRenderTarget=rn,this.updateRenderTargetMipmap=F,this.updateMultisampleRenderTarget=Yt,this.setupDepthRenderbuffer=dn,this.setupFrameBufferTexture=De,this.useMultisampledRTT=bt,this.dispose=W}function s1(i,t){function e(n,s=ws){let r,o=_e.getTransfer(s);if(n===jn)return i.UNSIGNED_BYTE;if(n===Fc)return i.UNSIGNED_SHORT_4_4_4_4;if(n===Oc)return i.UNSIGNED_SHORT_5_5_5_1;if(n===Dd)return i.UNSIGNED_INT_5_9_9_9_REV;if(n===Nd)return i.UNSIGNED_INT_10F_11F_11F_REV;if(n===Id)return i.BYTE;if(n===Ld)return i.SHORT;if(n===yo)return i.UNSIGNED_SHORT;if(n===Uc)return i.INT;if(n===Oi)return i.UNSIGNED_INT;if(n===bi)return i.FLOAT;if(n===Bi)return i.HALF_FLOAT;if(n===Ud)return i.ALPHA;if(n===Fd)return i.RGB;if(n===ki)return i.RGBA;if(n===xs)return i.DEPTH_COMPONENT;if(n===bs)return i.DEPTH_STENCIL;if(n===Bc)return i.RED;if(n===kc)return i.RED_INTEGER;if(n===Zs)return i.RG;if(n===zc)return i.RG_INTEGER;if(n===Vc)return i.RGBA_INTEGER;if(n===Ba||n===ka||n===za||n===Va)if(o===Te)if(r=t.get("WEBGL_compressed_texture_s3tc_srgb"),r!==null){if(n===Ba)return r.COMPRESSED_SRGB_S3TC_DXT1_EXT;if(n===ka)return r.COMPRESSED_SRGB_ALPHA_S3TC_DXT1_EXT;if(n===za)return r.COMPRESSED_SRGB_ALPHA_S3TC_DXT3_EXT;if(n===Va)return r.COMPRESSED_SRGB_ALPHA_S3TC_DXT5_EXT}else return null;else if(r=t.get("WEBGL_compressed_texture_s3tc"),r!==null){if(n===Ba)return r.COMPRESSED_RGB_S3TC_DXT1_EXT;if(n===ka)return r.COMPRESSED_RGBA_S3TC_DXT1_EXT;if(n===za)return r.COMPRESSED_RGBA_S3TC_DXT3_EXT;if(n===Va)return r.COMPRESSED_RGBA_S3TC_DXT5_EXT}else return null;if(n===Gc||n===Hc||n===Wc||n===Xc)if(r=t.get("WEBGL_compressed_texture_pvrtc"),r!==null){if(n===Gc)return r.COMPRESSED_RGB_PVRTC_4BPPV1_IMG;if(n===Hc)return r.COMPRESSED_RGB_PVRTC_2BPPV1_IMG;if(n===Wc)return r.COMPRESSED_RGBA_PVRTC_4BPPV1_IMG;if(n===Xc)return r.COMPRESSED_RGBA_PVRTC_2BPPV1_IMG}else return null;if(n===qc||n===Yc||n===Zc||n===Jc||n===$c||n===Ga||n===Kc)if(r=t.get("WEBGL_compressed_texture_etc"),r!==null){if(n===qc||n===Yc)return o===Te?r.COMPRESSED_SRGB8_ETC2:r.COMPRESSED_RGB8_ETC2;if(n===Zc)return o===Te?r.COMPRESSED_SRGB8_ALPHA8_ETC2_EAC:r.COMPRESSED_RGBA8_ETC2_EAC;if(n===Jc)return r.COMPRESSED_R11_EAC;if(n===$c)return r.COMPRESSED_SIGNED_R11_EAC;if(n===Ga)return r.COMPRESSED_RG11_EAC;if(n===Kc)return r.COMPRESSED_SIGNED_RG11_EAC}else return null;if(n===jc||n===Qc||n===th||n===eh||n===nh||n===ih||n===sh||n===rh||n===oh||n===ah||n===lh||n===ch||n===hh||n===uh)if(r=t.get("WEBGL_compressed_texture_astc"),r!==null){if(n===jc)return o===Te?r.COMPRESSED_SRGB8_ALPHA8_ASTC_4x4_KHR:r.COMPRESSED_RGBA_ASTC_4x4_KHR;if(n===Qc)return o===Te?r.COMPRESSED_SRGB8_ALPHA8_ASTC_5x4_KHR:r.COMPRESSED_RGBA_ASTC_5x4_KHR;if(n===th)return o===Te?r.COMPRESSED_SRGB8_ALPHA8_ASTC_5x5_KHR:r.COMPRESSED_RGBA_ASTC_5x5_KHR;if(n===eh)return o===Te?r.COMPRESSED_SRGB8_ALPHA8_ASTC_6x5_KHR:r.COMPRESSED_RGBA_ASTC_6x5_KHR;if(n===nh)return o===Te?r.COMPRESSED_SRGB8_ALPHA8_ASTC_6x6_KHR:r.COMPRESSED_RGBA_ASTC_6x6_KHR;if(n===ih)return o===Te?r.COMPRESSED_SRGB8_ALPHA8_ASTC_8x5_KHR:r.COMPRESSED_RGBA_ASTC_8x5_KHR;if(n===sh)return o===Te?r.COMPRESSED_SRGB8_ALPHA8_ASTC_8x6_KHR:r.COMPRESSED_RGBA_ASTC_8x6_KHR;if(n===rh)return o===Te?r.COMPRESSED_SRGB8_ALPHA8_ASTC_8x8_KHR:r.COMPRESSED_RGBA_ASTC_8x8_KHR;if(n===oh)return o===Te?r.COMPRESSED_SRGB8_ALPHA8_ASTC_10x5_KHR:r.COMPRESSED_RGBA_ASTC_10x5_KHR;if(n===ah)return o===Te?r.COMPRESSED_SRGB8_ALPHA8_ASTC_10x6_KHR:r.COMPRESSED_RGBA_ASTC_10x6_KHR;if(n===lh)return o===Te?r.COMPRESSED_SRGB8_ALPHA8_ASTC_10x8_KHR:r.COMPRESSED_RGBA_ASTC_10x8_KHR;if(n===ch)return o===Te?r.COMPRESSED_SRGB8_ALPHA8_ASTC_10x10_KHR:r.COMPRESSED_RGBA_ASTC_10x10_KHR;if(n===hh)return o===Te?r.COMPRESSED_SRGB8_ALPHA8_ASTC_12x10_KHR:r.COMPRESSED_RGBA_ASTC_12x10_KHR;if(n===uh)return o===Te?r.COMPRESSED_SRGB8_ALPHA8_ASTC_12x12_KHR:r.COMPRESSED_RGBA_ASTC_12x12_KHR}else return null;if(n===dh||n===fh||n===ph)if(r=t.get("EXT_texture_compression_bptc"),r!==null){if(n===dh)return o===Te?r.COMPRESSED_SRGB_ALPHA_BPTC_UNORM_EXT:r.COMPRESSED_RGBA_BPTC_UNORM_EXT;if(n===fh)return r.COMPRESSED_RGB_BPTC_SIGNED_FLOAT_EXT;if(n===ph)return r.COMPRESSED_RGB_BPTC_UNSIGNED_FLOAT_EXT}else return null;if(n===mh||n===gh||n===Ha||n===_h)if(r=t.get("EXT_texture_compression_rgtc"),r!==null){if(n===mh)return r.COMPRESSED_RED_RGTC1_EXT;if(n===gh)return r.COMPRESSED_SIGNED_RED_RGTC1_EXT;if(n===Ha)return r.COMPRESSED_RED_GREEN_RGTC2_EXT;if(n===_h)return r.COMPRESSED_SIGNED_RED_GREEN_RGTC2_EXT}else return null;return n===xr?i.UNSIGNED_INT_24_8:i[n]!==void 0?i[n]:null}return{convert:e}}var r1=`
void main() {

	gl_Position = vec4( position, 1.0 );

}`,o1=`
uniform sampler2DArray depthColor;
uniform float depthWidth;
uniform float depthHeight;

void main() {

	vec2 coord = vec2( gl_FragCoord.x / depthWidth, gl_FragCoord.y / depthHeight );

	if ( coord.x >= 1.0 ) {

		gl_FragDepth = texture( depthColor, vec3( coord.x - 1.0, coord.y, 1 ) ).r;

	} else {

		gl_FragDepth = texture( depthColor, vec3( coord.x, coord.y, 0 ) ).r;

	}

}`,of=class{constructor(){this.texture=null,this.mesh=null,this.depthNear=0,this.depthFar=0}init(t,e){if(this.texture===null){let n=new Sa(t.texture);(t.depthNear!==e.depthNear||t.depthFar!==e.depthFar)&&(this.depthNear=t.depthNear,this.depthFar=t.depthFar),this.texture=n}}getMesh(t){if(this.texture!==null&&this.mesh===null){let e=t.cameras[0].viewport,n=new Si({vertexShader:r1,fragmentShader:o1,uniforms:{depthColor:{value:this.texture},depthWidth:{value:e.z},depthHeight:{value:e.w}}});this.mesh=new xe(new Ea(20,20),n)}return this.mesh}reset(){this.texture=null,this.mesh=null}getDepthTexture(){return this.texture}},af=class extends ji{constructor(t,e){super();let n=this,s=null,r=1,o=null,a="local-floor",l=1,c=null,h=null,d=null,u=null,f=null,g=null,y=typeof XRWebGLBinding<"u",m=new of,p={},v=e.getContextAttributes(),T=null,M=null,P=[],E=[],x=new Kt,A=null,k=null,N=new qn;N.viewport=new Re;let D=new qn;D.viewport=new Re;let z=[N,D],H=new Ic,L=null,W=null;this.cameraAutoUpdate=!0,this.enabled=!1,this.isPresenting=!1,this.getController=function(Q){let mt=P[Q];return mt===void 0&&(mt=new po,P[Q]=mt),mt.getTargetRaySpace()},this.getControllerGrip=function(Q){let mt=P[Q];return mt===void 0&&(mt=new po,P[Q]=mt),mt.getGripSpace()},this.getHand=function(Q){let mt=P[Q];return mt===void 0&&(mt=new po,P[Q]=mt),mt.getHandSpace()};function Y(Q){let mt=E.indexOf(Q.inputSource);if(mt===-1)return;let xt=P[mt];xt!==void 0&&(xt.update(Q.inputSource,Q.frame,c||o),xt.dispatchEvent({type:Q.type,data:Q.inputSource}))}function G(){s.removeEventListener("select",Y),s.removeEventListener("selectstart",Y),s.removeEventListener("selectend",Y),s.removeEventListener("squeeze",Y),s.removeEventListener("squeezestart",Y),s.removeEventListener("squeezeend",Y),s.removeEventListener("end",G),s.removeEventListener("inputsourceschange",lt);for(let Q=0;Q<P.length;Q++){let mt=E[Q];mt!==null&&(E[Q]=null,P[Q].disconnect(mt))}L=null,W=null,m.reset();for(let Q in p)delete p[Q];if(t.setRenderTarget(T),f=null,u=null,d=null,s=null,M=null,ht.stop(),n.isPresenting=!1,t.setPixelRatio(A),t.setSize(x.width,x.height,!1),k!==null){let Q=k.camera;Q.fov=k.fov,Q.zoom=k.zoom,Q.updateProjectionMatrix(),k=null}n.dispatchEvent({type:"sessionend"})}this.setFramebufferScaleFactor=function(Q){r=Q,n.isPresenting===!0&&qt("WebXRManager: Cannot change framebuffer scale while presenting.")},this.setReferenceSpaceType=function(Q){a=Q,n.isPresenting===!0&&qt("WebXRManager: Cannot change reference space type while presenting.")},this.getReferenceSpace=function(){return c||o},this.setReferenceSpace=function(Q){c=Q},this.getBaseLayer=function(){return u!==null?u:f},this.getBinding=function(){return d===null&&y&&(d=new XRWebGLBinding(s,e)),d},this.getFrame=function(){return g},this.getSession=function(){return s},this.setSession=async function(Q){if(s=Q,s!==null){if(T=t.getRenderTarget(),s.addEventListener("select",Y),s.addEventListener("selectstart",Y),s.addEventListener("selectend",Y),s.addEventListener("squeeze",Y),s.addEventListener("squeezestart",Y),s.addEventListener("squeezeend",Y),s.addEventListener("end",G),s.addEventListener("inputsourceschange",lt),v.xrCompatible!==!0&&await e.makeXRCompatible(),A=t.getPixelRatio(),t.getSize(x),y&&"createProjectionLayer"in XRWebGLBinding.prototype){let xt=null,Tt=null,Mt=null;v.depth&&(Mt=v.stencil?e.DEPTH24_STENCIL8:e.DEPTH_COMPONENT24,xt=v.stencil?bs:xs,Tt=v.stencil?xr:Oi);let Ht={colorFormat:e.RGBA8,depthFormat:Mt,scaleFactor:r};d=this.getBinding(),u=d.createProjectionLayer(Ht),s.updateRenderState({layers:[u]}),t.setPixelRatio(1),t.setSize(u.textureWidth,u.textureHeight,!1),M=new ci(u.textureWidth,u.textureHeight,{format:ki,type:jn,depthTexture:new Ss(u.textureWidth,u.textureHeight,Tt,void 0,void 0,void 0,void 0,void 0,void 0,xt),stencilBuffer:v.stencil,colorSpace:t.outputColorSpace,samples:v.antialias?4:0,resolveDepthBuffer:u.ignoreDepthValues===!1,resolveStencilBuffer:u.ignoreDepthValues===!1,storeMultisampledDepthBuffer:u.ignoreDepthValues===!1,storeMultisampledStencilBuffer:u.ignoreDepthValues===!1})}else{let xt={antialias:v.antialias,alpha:!0,depth:v.depth,stencil:v.stencil,framebufferScaleFactor:r};f=new XRWebGLLayer(s,e,xt),s.updateRenderState({baseLayer:f}),t.setPixelRatio(1),t.setSize(f.framebufferWidth,f.framebufferHeight,!1),M=new ci(f.framebufferWidth,f.framebufferHeight,{format:ki,type:jn,colorSpace:t.outputColorSpace,stencilBuffer:v.stencil,resolveDepthBuffer:f.ignoreDepthValues===!1,resolveStencilBuffer:f.ignoreDepthValues===!1,storeMultisampledDepthBuffer:f.ignoreDepthValues===!1,storeMultisampledStencilBuffer:f.ignoreDepthValues===!1})}M.isXRRenderTarget=!0,this.setFoveation(l),c=null,o=await s.requestReferenceSpace(a),ht.setContext(s),ht.start(),n.isPresenting=!0,n.dispatchEvent({type:"sessionstart"})}},this.getEnvironmentBlendMode=function(){if(s!==null)return s.environmentBlendMode},this.getDepthTexture=function(){return m.getDepthTexture()};function lt(Q){for(let mt=0;mt<Q.removed.length;mt++){let xt=Q.removed[mt],Tt=E.indexOf(xt);Tt>=0&&(E[Tt]=null,P[Tt].disconnect(xt))}for(let mt=0;mt<Q.added.length;mt++){let xt=Q.added[mt],Tt=E.indexOf(xt);if(Tt===-1){for(let Ht=0;Ht<P.length;Ht++)if(Ht>=E.length){E.push(xt),Tt=Ht;break}else if(E[Ht]===null){E[Ht]=xt,Tt=Ht;break}if(Tt===-1)break}let Mt=P[Tt];Mt&&Mt.connect(xt)}}function $(Q,mt){mt===null?Q.matrixWorld.copy(Q.matrix):Q.matrixWorld.multiplyMatrices(mt.matrixWorld,Q.matrix),Q.matrixWorldInverse.copy(Q.matrixWorld).invert()}this.updateCamera=function(Q){if(s===null)return;let mt=Q.near,xt=Q.far;m.texture!==null&&(m.depthNear>0&&(mt=m.depthNear),m.depthFar>0&&(xt=m.depthFar)),H.near=D.near=N.near=mt,H.far=D.far=N.far=xt,(L!==H.near||W!==H.far)&&(s.updateRenderState({depthNear:H.near,depthFar:H.far}),L=H.near,W=H.far),H.layers.mask=Q.layers.mask|6,N.layers.mask=H.layers.mask&-5,D.layers.mask=H.layers.mask&-3;let Tt=Q.parent,Mt=H.cameras;$(H,Tt);for(let Ht=0;Ht<Mt.length;Ht++)$(Mt[Ht],Tt);H.projectionMatrix.copy(N.projectionMatrix),H.projectionMatrixInverse.copy(N.projectionMatrixInverse),k===null&&Q.isPerspectiveCamera&&(k={camera:Q,fov:Q.fov,zoom:Q.zoom}),j(Q,H,Tt)};function j(Q,mt,xt){xt===null?Q.matrix.copy(mt.matrixWorld):(Q.matrix.copy(xt.matrixWorld),Q.matrix.invert(),Q.matrix.multiply(mt.matrixWorld)),Q.matrix.decompose(Q.position,Q.quaternion,Q.scale),Q.updateMatrixWorld(!0),Q.projectionMatrix.copy(mt.projectionMatrix),Q.projectionMatrixInverse.copy(mt.projectionMatrixInverse),Q.isPerspectiveCamera&&(Q.fov=uo*2*Math.atan(1/Q.projectionMatrix.elements[5]),Q.zoom=1)}this.getCamera=function(){return H},this.getFoveation=function(){if(!(u===null&&f===null))return l},this.setFoveation=function(Q){l=Q,u!==null&&(u.fixedFoveation=Q),f!==null&&f.fixedFoveation!==void 0&&(f.fixedFoveation=Q)},this.hasDepthSensing=function(){return m.texture!==null},this.getDepthSensingMesh=function(){return m.getMesh(H)},this.getCameraTexture=function(Q){return p[Q]};let it=null;function ut(Q,mt){if(h=mt.getViewerPose(c||o),g=mt,h!==null){let xt=h.views;f!==null&&(t.setRenderTargetFramebuffer(M,f.framebuffer),t.setRenderTarget(M));let Tt=!1;xt.length!==H.cameras.length&&(H.cameras.length=0,Tt=!0);for(let Vt=0;Vt<xt.length;Vt++){let ue=xt[Vt],ae=null;if(f!==null)ae=f.getViewport(ue);else{let Ye=d.getViewSubImage(u,ue);ae=Ye.viewport,Vt===0&&(t.setRenderTargetTextures(M,Ye.colorTexture,Ye.depthStencilTexture),t.setRenderTarget(M))}let ee=z[Vt];ee===void 0&&(ee=new qn,ee.layers.enable(Vt),ee.viewport=new Re,z[Vt]=ee),ee.matrix.fromArray(ue.transform.matrix),ee.matrix.decompose(ee.position,ee.quaternion,ee.scale),ee.projectionMatrix.fromArray(ue.projectionMatrix),ee.projectionMatrixInverse.copy(ee.projectionMatrix).invert(),ee.viewport.set(ae.x,ae.y,ae.width,ae.height),Vt===0&&(H.matrix.copy(ee.matrix),H.matrix.decompose(H.position,H.quaternion,H.scale)),Tt===!0&&H.cameras.push(ee)}let Mt=s.enabledFeatures;if(Mt&&Mt.includes("depth-sensing")&&s.depthUsage=="gpu-optimized"&&y){d=n.getBinding();let Vt=d.getDepthInformation(xt[0]);Vt&&Vt.isValid&&Vt.texture&&m.init(Vt,s.renderState)}if(Mt&&Mt.includes("camera-access")&&y){t.state.unbindTexture(),d=n.getBinding();for(let Vt=0;Vt<xt.length;Vt++){let ue=xt[Vt].camera;if(ue){let ae=p[ue];ae||(ae=new Sa,p[ue]=ae);let ee=d.getCameraImage(ue);ae.sourceTexture=ee}}}}for(let xt=0;xt<P.length;xt++){let Tt=E[xt],Mt=P[xt];Tt!==null&&Mt!==void 0&&Mt.update(Tt,mt,c||o)}it&&it(Q,mt),mt.detectedPlanes&&n.dispatchEvent({type:"planesdetected",data:mt}),g=null}let ht=new y0;ht.setAnimationLoop(ut),this.setAnimationLoop=function(Q){it=Q},this.dispose=function(){}}},a1=new ye,P0=new te;P0.set(-1,0,0,0,1,0,0,0,1);function l1(i,t){function e(m,p){m.matrixAutoUpdate===!0&&m.updateMatrix(),p.value.copy(m.matrix)}function n(m,p){p.color.getRGB(m.fogColor.value,Yd(i)),p.isFog?(m.fogNear.value=p.near,m.fogFar.value=p.far):p.isFogExp2&&(m.fogDensity.value=p.density)}function s(m,p,v,T,M){p.isNodeMaterial?p.uniformsNeedUpdate=!1:p.isMeshBasicMaterial?r(m,p):p.isMeshLambertMaterial?(r(m,p),p.envMap&&(m.envMapIntensity.value=p.envMapIntensity)):p.isMeshToonMaterial?(r(m,p),d(m,p)):p.isMeshPhongMaterial?(r(m,p),h(m,p),p.envMap&&(m.envMapIntensity.value=p.envMapIntensity)):p.isMeshStandardMaterial?(r(m,p),u(m,p),p.isMeshPhysicalMaterial&&f(m,p,M)):p.isMeshMatcapMaterial?(r(m,p),g(m,p)):p.isMeshDepthMaterial?r(m,p):p.isMeshDistanceMaterial?(r(m,p),y(m,p)):p.isMeshNormalMaterial?r(m,p):p.isLineBasicMaterial?(o(m,p),p.isLineDashedMaterial&&a(m,p)):p.isPointsMaterial?l(m,p,v,T):p.isSpriteMaterial?c(m,p):p.isShadowMaterial?(m.color.value.copy(p.color),m.opacity.value=p.opacity):p.isShaderMaterial&&(p.uniformsNeedUpdate=!1)}function r(m,p){m.opacity.value=p.opacity,p.color&&m.diffuse.value.copy(p.color),p.emissive&&m.emissive.value.copy(p.emissive).multiplyScalar(p.emissiveIntensity),p.map&&(m.map.value=p.map,e(p.map,m.mapTransform)),p.alphaMap&&(m.alphaMap.value=p.alphaMap,e(p.alphaMap,m.alphaMapTransform)),p.bumpMap&&(m.bumpMap.value=p.bumpMap,e(p.bumpMap,m.bumpMapTransform),m.bumpScale.value=p.bumpScale,p.side===Zn&&(m.bumpScale.value*=-1)),p.normalMap&&(m.normalMap.value=p.normalMap,e(p.normalMap,m.normalMapTransform),m.normalScale.value.copy(p.normalScale),p.side===Zn&&m.normalScale.value.negate()),p.displacementMap&&(m.displacementMap.value=p.displacementMap,e(p.displacementMap,m.displacementMapTransform),m.displacementScale.value=p.displacementScale,m.displacementBias.value=p.displacementBias),p.emissiveMap&&(m.emissiveMap.value=p.emissiveMap,e(p.emissiveMap,m.emissiveMapTransform)),p.specularMap&&(m.specularMap.value=p.specularMap,e(p.specularMap,m.specularMapTransform)),p.alphaTest>0&&(m.alphaTest.value=p.alphaTest);let v=t.get(p),T=v.envMap,M=v.envMapRotation;T&&(m.envMap.value=T,m.envMapRotation.value.setFromMatrix4(a1.makeRotationFromEuler(M)).transpose(),T.isCubeTexture&&T.isRenderTargetTexture===!1&&m.envMapRotation.value.premultiply(P0),m.reflectivity.value=p.reflectivity,m.ior.value=p.ior,m.refractionRatio.value=p.refractionRatio),p.lightMap&&(m.lightMap.value=p.lightMap,m.lightMapIntensity.value=p.lightMapIntensity,e(p.lightMap,m.lightMapTransform)),p.aoMap&&(m.aoMap.value=p.aoMap,m.aoMapIntensity.value=p.aoMapIntensity,e(p.aoMap,m.aoMapTransform))}function o(m,p){m.diffuse.value.copy(p.color),m.opacity.value=p.opacity,p.map&&(m.map.value=p.map,e(p.map,m.mapTransform))}function a(m,p){m.dashSize.value=p.dashSize,m.totalSize.value=p.dashSize+p.gapSize,m.scale.value=p.scale}function l(m,p,v,T){m.diffuse.value.copy(p.color),m.opacity.value=p.opacity,m.size.value=p.size*v,m.scale.value=T*.5,p.map&&(m.map.value=p.map,e(p.map,m.uvTransform)),p.alphaMap&&(m.alphaMap.value=p.alphaMap,e(p.alphaMap,m.alphaMapTransform)),p.alphaTest>0&&(m.alphaTest.value=p.alphaTest)}function c(m,p){m.diffuse.value.copy(p.color),m.opacity.value=p.opacity,m.rotation.value=p.rotation,p.map&&(m.map.value=p.map,e(p.map,m.mapTransform)),p.alphaMap&&(m.alphaMap.value=p.alphaMap,e(p.alphaMap,m.alphaMapTransform)),p.alphaTest>0&&(m.alphaTest.value=p.alphaTest)}function h(m,p){m.specular.value.copy(p.specular),m.shininess.value=Math.max(p.shininess,1e-4)}function d(m,p){p.gradientMap&&(m.gradientMap.value=p.gradientMap)}function u(m,p){m.metalness.value=p.metalness,p.metalnessMap&&(m.metalnessMap.value=p.metalnessMap,e(p.metalnessMap,m.metalnessMapTransform)),m.roughness.value=p.roughness,p.roughnessMap&&(m.roughnessMap.value=p.roughnessMap,e(p.roughnessMap,m.roughnessMapTransform)),p.envMap&&(m.envMapIntensity.value=p.envMapIntensity)}function f(m,p,v){m.ior.value=p.ior,p.diffuseRoughness>0&&(m.diffuseRoughness.value=p.diffuseRoughness,p.diffuseRoughnessMap&&(m.diffuseRoughnessMap.value=p.diffuseRoughnessMap,e(p.diffuseRoughnessMap,m.diffuseRoughnessMapTransform))),p.sheen>0&&(m.sheenColor.value.copy(p.sheenColor).multiplyScalar(p.sheen),m.sheenRoughness.value=p.sheenRoughness,p.sheenColorMap&&(m.sheenColorMap.value=p.sheenColorMap,e(p.sheenColorMap,m.sheenColorMapTransform)),p.sheenRoughnessMap&&(m.sheenRoughnessMap.value=p.sheenRoughnessMap,e(p.sheenRoughnessMap,m.sheenRoughnessMapTransform))),p.clearcoat>0&&(m.clearcoat.value=p.clearcoat,m.clearcoatRoughness.value=p.clearcoatRoughness,p.clearcoatMap&&(m.clearcoatMap.value=p.clearcoatMap,e(p.clearcoatMap,m.clearcoatMapTransform)),p.clearcoatRoughnessMap&&(m.clearcoatRoughnessMap.value=p.clearcoatRoughnessMap,e(p.clearcoatRoughnessMap,m.clearcoatRoughnessMapTransform)),p.clearcoatNormalMap&&(m.clearcoatNormalMap.value=p.clearcoatNormalMap,e(p.clearcoatNormalMap,m.clearcoatNormalMapTransform),m.clearcoatNormalScale.value.copy(p.clearcoatNormalScale),p.side===Zn&&m.clearcoatNormalScale.value.negate())),p.dispersion>0&&(m.dispersion.value=p.dispersion),p.retroreflectivity>0&&(m.retroreflectivity.value=p.retroreflectivity),p.iridescence>0&&(m.iridescence.value=p.iridescence,m.iridescenceIOR.value=p.iridescenceIOR,m.iridescenceThicknessMinimum.value=p.iridescenceThicknessMinimum,m.iridescenceThicknessMaximum.value=p.iridescenceThicknessMaximum,p.iridescenceMap&&(m.iridescenceMap.value=p.iridescenceMap,e(p.iridescenceMap,m.iridescenceMapTransform)),p.iridescenceThicknessMap&&(m.iridescenceThicknessMap.value=p.iridescenceThicknessMap,e(p.iridescenceThicknessMap,m.iridescenceThicknessMapTransform))),p.transmission>0&&(m.transmission.value=p.transmission,m.transmissionSamplerMap.value=v.texture,m.transmissionSamplerSize.value.set(v.width,v.height),p.transmissionMap&&(m.transmissionMap.value=p.transmissionMap,e(p.transmissionMap,m.transmissionMapTransform)),m.thickness.value=p.thickness,p.thicknessMap&&(m.thicknessMap.value=p.thicknessMap,e(p.thicknessMap,m.thicknessMapTransform)),m.attenuationDistance.value=p.attenuationDistance,m.attenuationColor.value.copy(p.attenuationColor)),p.anisotropy>0&&(m.anisotropyVector.value.set(p.anisotropy*Math.cos(p.anisotropyRotation),p.anisotropy*Math.sin(p.anisotropyRotation)),p.anisotropyMap&&(m.anisotropyMap.value=p.anisotropyMap,e(p.anisotropyMap,m.anisotropyMapTransform))),m.specularIntensity.value=p.specularIntensity,m.specularColor.value.copy(p.specularColor),p.specularColorMap&&(m.specularColorMap.value=p.specularColorMap,e(p.specularColorMap,m.specularColorMapTransform)),p.specularIntensityMap&&(m.specularIntensityMap.value=p.specularIntensityMap,e(p.specularIntensityMap,m.specularIntensityMapTransform))}function g(m,p){p.matcap&&(m.matcap.value=p.matcap)}function y(m,p){let v=t.get(p).light;m.referencePosition.value.setFromMatrixPosition(v.matrixWorld),m.nearDistance.value=v.shadow.camera.near,m.farDistance.value=v.shadow.camera.far}return{refreshFogUniforms:n,refreshMaterialUniforms:s}}function c1(i,t,e,n){let s={},r={};function o(v,T){let M=T.program;n.uniformBlockBinding(v,M,s[v.id])}function a(v,T){let M=s[v.id];M===void 0&&(g(v),M=l(v),s[v.id]=M,v.addEventListener("dispose",m));let P=T.program;n.updateUBOMapping(v,P);let E=t.render.frame;r[v.id]!==E&&(c(v),r[v.id]=E)}function l(v){let T=i.createBuffer(),M=v.__size,P=v.usage;return i.bindBuffer(i.UNIFORM_BUFFER,T),i.bufferData(i.UNIFORM_BUFFER,M,P),i.bindBuffer(i.UNIFORM_BUFFER,null),T}function c(v){let T=s[v.id],M=v.uniforms,P=v.__cache;i.bindBuffer(i.UNIFORM_BUFFER,T);for(let E=0,x=M.length;E<x;E++){let A=M[E];if(Array.isArray(A))for(let k=0,N=A.length;k<N;k++)h(A[k],E,k,P);else h(A,E,0,P)}i.bindBuffer(i.UNIFORM_BUFFER,null)}function h(v,T,M,P){if(u(v,T,M,P)===!0){let E=v.__offset,x=v.value;if(Array.isArray(x)){let A=0;for(let k=0;k<x.length;k++){let N=x[k],D=y(N,!0);d(N,v.__data,A),A+=D.storage/Float32Array.BYTES_PER_ELEMENT}}else d(x,v.__data,0);i.bufferSubData(i.UNIFORM_BUFFER,E,v.__data)}}function d(v,T,M){typeof v=="number"||typeof v=="boolean"?T[M]=v:v.isMatrix3?(T[M]=v.elements[0],T[M+1]=v.elements[1],T[M+2]=v.elements[2],T[M+3]=0,T[M+4]=v.elements[3],T[M+5]=v.elements[4],T[M+6]=v.elements[5],T[M+7]=0,T[M+8]=v.elements[6],T[M+9]=v.elements[7],T[M+10]=v.elements[8],T[M+11]=0):ArrayBuffer.isView(v)?T.set(v.subarray(0,T.length-M),M):v.toArray(T,M)}function u(v,T,M,P){let E=v.value,x=T+"_"+M;if(Array.isArray(E)){P[x]===void 0&&(P[x]=[]);let A=P[x],k=!1;for(let N=0;N<E.length;N++)f(E[N],A,N)===!0&&(k=!0);return k}return f(E,P,x)}function f(v,T,M){if(T[M]===void 0)return typeof v=="number"||typeof v=="boolean"?T[M]=v:ArrayBuffer.isView(v)?T[M]=v.slice():T[M]=v.clone(),!0;{let P=T[M];if(typeof v=="number"||typeof v=="boolean"){if(P!==v)return T[M]=v,!0}else{if(ArrayBuffer.isView(v))return!0;if(P.equals(v)===!1)return P.copy(v),!0}}return!1}function g(v){let T=v.uniforms,M=0,P=16;for(let x=0,A=T.length;x<A;x++){let k=Array.isArray(T[x])?T[x]:[T[x]];for(let N=0,D=k.length;N<D;N++){let z=k[N],H=Array.isArray(z.value)?z.value:[z.value],L=Array.isArray(T[x])||Array.isArray(z.value),W=M;for(let G=0,lt=H.length;G<lt;G++){let $=H[G],j=y($,L),it=M%P,ut=it%j.boundary,ht=it+ut;M+=ut,ht!==0&&P-ht<j.storage&&(M+=P-ht),G===0&&(W=M),M+=j.storage}let Y=z.type==="int"?Int32Array:z.type==="uint"?Uint32Array:Float32Array;z.__data=new Y((M-W)/Float32Array.BYTES_PER_ELEMENT),z.__offset=W}}let E=M%P;return E>0&&(M+=P-E),v.__size=M,v.__cache={},this}function y(v,T){let M={boundary:0,storage:0};return typeof v=="number"||typeof v=="boolean"?(M.boundary=4,M.storage=4):v.isVector2?(M.boundary=8,M.storage=8):v.isVector3||v.isColor?(M.boundary=16,M.storage=12):v.isVector4?(M.boundary=16,M.storage=16):v.isMatrix3?(M.boundary=16,M.storage=48):v.isMatrix4?(M.boundary=16,M.storage=64):v.isTexture?qt("WebGLRenderer: Texture samplers can not be part of an uniforms group."):ArrayBuffer.isView(v)?(M.boundary=16,M.storage=v.byteLength):qt("WebGLRenderer: Unsupported uniform value type.",v),T===!0&&(M.boundary=16,M.storage=Math.ceil(M.storage/16)*16),M}function m(v){let T=v.target;T.removeEventListener("dispose",m),i.deleteBuffer(s[T.id]),delete s[T.id],delete r[T.id]}function p(){for(let v in s)i.deleteBuffer(s[v]);s={},r={}}return{bind:o,update:a,dispose:p}}var h1=new Uint16Array([12469,15057,12620,14925,13266,14620,13807,14376,14323,13990,14545,13625,14713,13328,14840,12882,14931,12528,14996,12233,15039,11829,15066,11525,15080,11295,15085,10976,15082,10705,15073,10495,13880,14564,13898,14542,13977,14430,14158,14124,14393,13732,14556,13410,14702,12996,14814,12596,14891,12291,14937,11834,14957,11489,14958,11194,14943,10803,14921,10506,14893,10278,14858,9960,14484,14039,14487,14025,14499,13941,14524,13740,14574,13468,14654,13106,14743,12678,14818,12344,14867,11893,14889,11509,14893,11180,14881,10751,14852,10428,14812,10128,14765,9754,14712,9466,14764,13480,14764,13475,14766,13440,14766,13347,14769,13070,14786,12713,14816,12387,14844,11957,14860,11549,14868,11215,14855,10751,14825,10403,14782,10044,14729,9651,14666,9352,14599,9029,14967,12835,14966,12831,14963,12804,14954,12723,14936,12564,14917,12347,14900,11958,14886,11569,14878,11247,14859,10765,14828,10401,14784,10011,14727,9600,14660,9289,14586,8893,14508,8533,15111,12234,15110,12234,15104,12216,15092,12156,15067,12010,15028,11776,14981,11500,14942,11205,14902,10752,14861,10393,14812,9991,14752,9570,14682,9252,14603,8808,14519,8445,14431,8145,15209,11449,15208,11451,15202,11451,15190,11438,15163,11384,15117,11274,15055,10979,14994,10648,14932,10343,14871,9936,14803,9532,14729,9218,14645,8742,14556,8381,14461,8020,14365,7603,15273,10603,15272,10607,15267,10619,15256,10631,15231,10614,15182,10535,15118,10389,15042,10167,14963,9787,14883,9447,14800,9115,14710,8665,14615,8318,14514,7911,14411,7507,14279,7198,15314,9675,15313,9683,15309,9712,15298,9759,15277,9797,15229,9773,15166,9668,15084,9487,14995,9274,14898,8910,14800,8539,14697,8234,14590,7790,14479,7409,14367,7067,14178,6621,15337,8619,15337,8631,15333,8677,15325,8769,15305,8871,15264,8940,15202,8909,15119,8775,15022,8565,14916,8328,14804,8009,14688,7614,14569,7287,14448,6888,14321,6483,14088,6171,15350,7402,15350,7419,15347,7480,15340,7613,15322,7804,15287,7973,15229,8057,15148,8012,15046,7846,14933,7611,14810,7357,14682,7069,14552,6656,14421,6316,14251,5948,14007,5528,15356,5942,15356,5977,15353,6119,15348,6294,15332,6551,15302,6824,15249,7044,15171,7122,15070,7050,14949,6861,14818,6611,14679,6349,14538,6067,14398,5651,14189,5311,13935,4958,15359,4123,15359,4153,15356,4296,15353,4646,15338,5160,15311,5508,15263,5829,15188,6042,15088,6094,14966,6001,14826,5796,14678,5543,14527,5287,14377,4985,14133,4586,13869,4257,15360,1563,15360,1642,15358,2076,15354,2636,15341,3350,15317,4019,15273,4429,15203,4732,15105,4911,14981,4932,14836,4818,14679,4621,14517,4386,14359,4156,14083,3795,13808,3437,15360,122,15360,137,15358,285,15355,636,15344,1274,15322,2177,15281,2765,15215,3223,15120,3451,14995,3569,14846,3567,14681,3466,14511,3305,14344,3121,14037,2800,13753,2467,15360,0,15360,1,15359,21,15355,89,15346,253,15325,479,15287,796,15225,1148,15133,1492,15008,1749,14856,1882,14685,1886,14506,1783,14324,1608,13996,1398,13702,1183]),ts=null;function u1(){return ts===null&&(ts=new ma(h1,16,16,Zs,Bi),ts.name="DFG_LUT",ts.minFilter=Yn,ts.magFilter=Yn,ts.wrapS=Ki,ts.wrapT=Ki,ts.generateMipmaps=!1,ts.needsUpdate=!0),ts}var bh=class{constructor(t={}){let{canvas:e=qg(),context:n=null,depth:s=!0,stencil:r=!1,alpha:o=!1,antialias:a=!1,premultipliedAlpha:l=!0,preserveDrawingBuffer:c=!1,powerPreference:h="default",failIfMajorPerformanceCaveat:d=!1,reversedDepthBuffer:u=!1,outputBufferType:f=jn}=t;this.isWebGLRenderer=!0;let g;if(n!==null){if(typeof WebGLRenderingContext<"u"&&n instanceof WebGLRenderingContext)throw new Error("THREE.WebGLRenderer: WebGL 1 is not supported since r163.");g=n.getContextAttributes().alpha}else g=o;let y=f,m=new Set([Vc,zc,kc]),p=new Set([jn,Oi,yo,xr,Fc,Oc]),v=new Uint32Array(4),T=new Int32Array(4),M={textures:[],min:[],max:[],resolution:[]},P=null,E=null,x=[],A=[],k=null;this.domElement=e,this.debug={checkShaderErrors:!0,diagnostics:{keywords:!1},onShaderError:null},this.autoClear=!0,this.autoClearColor=!0,this.autoClearDepth=!0,this.autoClearStencil=!0,this.sortObjects=!0,this.clippingPlanes=[],this.localClippingEnabled=!1,this.toneMapping=Qi,this.toneMappingExposure=1,this.transmissionResolutionScale=1;let N=this,D=!1,z=null,H=null,L=null,W=null;this._outputColorSpace=li;let Y=0,G=0,lt=null,$=-1,j=null,it=new Re,ut=new Re,ht=null,Q=new ce(0),mt=0,xt=e.width,Tt=e.height,Mt=1,Ht=null,se=null,Vt=new Re(0,0,xt,Tt),ue=new Re(0,0,xt,Tt),ae=!1,ee=new Vs,Ye=new fc,Be=!1,sn=!1,De=new ye,xn=new O,ve=new Re,dn={background:null,fog:null,environment:null,overrideMaterial:null,isScene:!0},$e=!1;function rn(){return lt===null?Mt:1}let F=n;function Rt(w,B){return e.getContext(w,B)}let Yt,re,bt,Ue,zt,Xt,C,S,X,ct,rt,_t,vt,tt,nt,ft,U,st,et,wt,gt,St,Gt;try{let w={alpha:!0,depth:s,stencil:r,antialias:a,premultipliedAlpha:l,preserveDrawingBuffer:c,powerPreference:h,failIfMajorPerformanceCaveat:d};if("setAttribute"in e&&e.setAttribute("data-engine",`three.js r${"187"}`),e.addEventListener("webglcontextlost",Ot,!1),e.addEventListener("webglcontextrestored",$t,!1),e.addEventListener("webglcontextcreationerror",Ct,!1),F===null){let B="webgl2";if(F=Rt(B,w),F===null)throw Rt(B)?new Error("THREE.WebGLRenderer: Error creating WebGL context with your selected attributes."):new Error("THREE.WebGLRenderer: Error creating WebGL context.")}Jt()}catch(w){throw e.removeEventListener("webglcontextlost",Ot,!1),e.removeEventListener("webglcontextrestored",$t,!1),e.removeEventListener("webglcontextcreationerror",Ct,!1),Qt("WebGLRenderer: "+w.message),w}function Jt(){Yt=new Mb(F),Yt.init(),gt=new s1(F,Yt),re=new ub(F,Yt,t,gt),bt=new n1(F,Yt),re.reversedDepthBuffer&&u&&bt.buffers.depth.setReversed(!0),H=F.createFramebuffer(),L=F.createFramebuffer(),W=F.createFramebuffer(),Ue=new Ab(F),zt=new Gw,Xt=new i1(F,Yt,bt,zt,re,gt,Ue),C=new Sb(N),S=new Ty(F),St=new cb(F,S),X=new bb(F,S,Ue,St),ct=new Tb(F,X,S,St,Ue),st=new Eb(F,re,Xt),nt=new db(zt),rt=new Vw(N,C,Yt,re,St,nt),_t=new l1(N,zt),vt=new Ww,tt=new $w(Yt),U=new lb(N,C,bt,ct,g,l),ft=new e1(N,ct,re),Gt=new c1(F,Ue,re,bt),et=new hb(F,Yt,Ue),wt=new wb(F,Yt,Ue),Ue.programs=rt.programs,N.capabilities=re,N.extensions=Yt,N.properties=zt,N.renderLists=vt,N.shadowMap=ft,N.state=bt,N.info=Ue}y!==jn&&(k=new Rb(y,e.width,e.height,a,s,r));let at=new af(N,F);this.xr=at,this.getContext=function(){return F},this.getContextAttributes=function(){return F.getContextAttributes()},this.forceContextLoss=function(){let w=Yt.get("WEBGL_lose_context");w&&w.loseContext()},this.forceContextRestore=function(){let w=Yt.get("WEBGL_lose_context");w&&w.restoreContext()},this.getPixelRatio=function(){return Mt},this.setPixelRatio=function(w){w!==void 0&&(Mt=w,this.setSize(xt,Tt,!1))},this.getSize=function(w){return w.set(xt,Tt)},this.setSize=function(w,B,K=!0){if(at.isPresenting){qt("WebGLRenderer: Can't change size while VR device is presenting.");return}xt=w,Tt=B,e.width=Math.floor(w*Mt),e.height=Math.floor(B*Mt),K===!0&&(e.style.width=w+"px",e.style.height=B+"px"),k!==null&&k.setSize(e.width,e.height),this.setViewport(0,0,w,B)},this.getDrawingBufferSize=function(w){return w.set(xt*Mt,Tt*Mt).floor()},this.setDrawingBufferSize=function(w,B,K){xt=w,Tt=B,Mt=K,e.width=Math.floor(w*K),e.height=Math.floor(B*K),this.setViewport(0,0,w,B)},this.setEffects=function(w){if(y===jn){Qt("WebGLRenderer: setEffects() requires outputBufferType set to HalfFloatType or FloatType.");return}if(w){for(let B=0;B<w.length;B++)if(w[B].isOutputPass===!0){qt("WebGLRenderer: OutputPass is not needed in setEffects(). Tone mapping and color space conversion are applied automatically.");break}}k.setEffects(w||[])},this.getCurrentViewport=function(w){return w.copy(it)},this.getViewport=function(w){return w.copy(Vt)},this.setViewport=function(w,B,K,q){w.isVector4?Vt.set(w.x,w.y,w.z,w.w):Vt.set(w,B,K,q),bt.viewport(it.copy(Vt).multiplyScalar(rn()).round())},this.getScissor=function(w){return w.copy(ue)},this.setScissor=function(w,B,K,q){w.isVector4?ue.set(w.x,w.y,w.z,w.w):ue.set(w,B,K,q),bt.scissor(ut.copy(ue).multiplyScalar(rn()).round())},this.getScissorTest=function(){return ae},this.setScissorTest=function(w){bt.setScissorTest(ae=w)},this.setOpaqueSort=function(w){Ht=w},this.setTransparentSort=function(w){se=w},this.getClearColor=function(w){return w.copy(U.getClearColor())},this.setClearColor=function(){U.setClearColor(...arguments)},this.getClearAlpha=function(){return U.getClearAlpha()},this.setClearAlpha=function(){U.setClearAlpha(...arguments)},this.clear=function(w=!0,B=!0,K=!0){let q=0;if(w){let Z=!1;if(lt!==null){let At=lt.texture.format;Z=m.has(At)}if(Z){let At=lt.texture.type,It=p.has(At),Et=U.getClearColor(),Lt=U.getClearAlpha(),kt=Et.r,jt=Et.g,de=Et.b;It?(v[0]=kt,v[1]=jt,v[2]=de,v[3]=Lt,F.clearBufferuiv(F.COLOR,0,v)):(T[0]=kt,T[1]=jt,T[2]=de,T[3]=Lt,F.clearBufferiv(F.COLOR,0,T))}else q|=F.COLOR_BUFFER_BIT}B&&(q|=F.DEPTH_BUFFER_BIT,this.state.buffers.depth.setMask(!0)),K&&(q|=F.STENCIL_BUFFER_BIT,this.state.buffers.stencil.setMask(4294967295)),q!==0&&F.clear(q)},this.clearColor=function(){this.clear(!0,!1,!1)},this.clearDepth=function(){this.clear(!1,!0,!1)},this.clearStencil=function(){this.clear(!1,!1,!0)},this.setNodesHandler=function(w){w.setRenderer(this),z=w},this.dispose=function(){e.removeEventListener("webglcontextlost",Ot,!1),e.removeEventListener("webglcontextrestored",$t,!1),e.removeEventListener("webglcontextcreationerror",Ct,!1),U.dispose(),vt.dispose(),tt.dispose(),Xt.dispose(),zt.dispose(),C.dispose(),ct.dispose(),X.dispose(),St.dispose(),Gt.dispose(),rt.dispose(),at.dispose(),at.removeEventListener("sessionstart",tl),at.removeEventListener("sessionend",zi),rs.stop()};function Ot(w){w.preventDefault(),la("WebGLRenderer: Context Lost."),D=!0}function $t(){la("WebGLRenderer: Context Restored."),D=!1;let w=Ue.autoReset,B=ft.enabled,K=ft.autoUpdate,q=ft.needsUpdate,Z=ft.type;Jt(),Ue.autoReset=w,ft.enabled=B,ft.autoUpdate=K,ft.needsUpdate=q,ft.type=Z}function Ct(w){Qt("WebGLRenderer: A WebGL context could not be created. Reason: ",w.statusMessage)}function oe(w){let B=w.target;B.removeEventListener("dispose",oe),ke(B)}function ke(w){kn(w),zt.remove(w)}function kn(w){let B=zt.get(w).programs;B!==void 0&&(B.forEach(function(K){rt.releaseProgram(K)}),w.isShaderMaterial&&rt.releaseShaderCache(w))}this.renderBufferDirect=function(w,B,K,q,Z,At){B===null&&(B=dn);let It=Z.isMesh&&Z.matrixWorld.determinantAffine()<0,Et=Lo(w,B,K,q,Z);bt.setMaterial(q,It);let Lt=K.index,kt=1;if(q.wireframe===!0){if(Lt=X.getWireframeAttribute(K),Lt===void 0)return;kt=2}let jt=K.drawRange,de=K.attributes.position,Bt=jt.start*kt,fe=(jt.start+jt.count)*kt;At!==null&&(Bt=Math.max(Bt,At.start*kt),fe=Math.min(fe,(At.start+At.count)*kt)),Lt!==null?(Bt=Math.max(Bt,0),fe=Math.min(fe,Lt.count)):de!=null&&(Bt=Math.max(Bt,0),fe=Math.min(fe,de.count));let Je=fe-Bt;if(Je<0||Je===1/0)return;St.setup(Z,q,Et,K,Lt);let Pe,Ie=et;if(Lt!==null&&(Pe=S.get(Lt),Ie=wt,Ie.setIndex(Pe)),Z.isMesh)q.wireframe===!0?(bt.setLineWidth(q.wireframeLinewidth*rn()),Ie.setMode(F.LINES)):Ie.setMode(F.TRIANGLES);else if(Z.isLine){let fn=q.linewidth;fn===void 0&&(fn=1),bt.setLineWidth(fn*rn()),Z.isLineSegments?Ie.setMode(F.LINES):Z.isLineLoop?Ie.setMode(F.LINE_LOOP):Ie.setMode(F.LINE_STRIP)}else Z.isPoints?Ie.setMode(F.POINTS):Z.isSprite&&Ie.setMode(F.TRIANGLES);if(Z.isBatchedMesh)if(Yt.get("WEBGL_multi_draw"))Ie.renderMultiDraw(Z._multiDrawStarts,Z._multiDrawCounts,Z._multiDrawCount);else{let fn=Z._multiDrawStarts,Ut=Z._multiDrawCounts,on=Z._multiDrawCount,me=Lt?S.get(Lt).bytesPerElement:1,as=zt.get(q).currentProgram.getUniforms();for(let an=0;an<on;an++)as.setValue(F,"_gl_DrawID",an),Ie.render(fn[an]/me,Ut[an])}else if(Z.isInstancedMesh)Ie.renderInstances(Bt,Je,Z.count);else if(K.isInstancedBufferGeometry){let fn=K._maxInstanceCount!==void 0?K._maxInstanceCount:1/0,Ut=Math.min(K.instanceCount,fn);Ie.renderInstances(Bt,Je,Ut)}else Ie.render(Bt,Je)};function Ro(w,B,K,q){z!==null&&w.isNodeMaterial&&z.setObject(q,w),Be===!0&&nt.setState(w,K,!1),w.transparent===!0&&w.side===Mi&&w.forceSinglePass===!1?(w.side=Zn,w.needsUpdate=!0,Vi(w,B,q),w.side=Ys,w.needsUpdate=!0,Vi(w,B,q),w.side=Mi):Vi(w,B,q)}this.compile=function(w,B,K=null){K===null&&(K=w),z!==null&&z.renderStart(w,B,K),E=tt.get(K),E.init(B),A.push(E),K.traverseVisible(function(Z){Z.isLight&&Z.layers.test(B.layers)&&(E.pushLight(Z),Z.castShadow&&E.pushShadow(Z))}),w!==K&&w.traverseVisible(function(Z){Z.isLight&&Z.layers.test(B.layers)&&(E.pushLight(Z),Z.castShadow&&E.pushShadow(Z))}),E.setupLights(),z!==null&&z.updateLights(E.state.lightsArray),sn=this.localClippingEnabled,Be=nt.init(this.clippingPlanes,sn),Be===!0&&nt.setGlobalState(this.clippingPlanes,B),z!==null&&ft.render(E.state.shadowsArray,K,B);let q=new Set;return w.traverse(function(Z){if(!(Z.isMesh||Z.isPoints||Z.isLine||Z.isSprite))return;let At=Z.material;if(At)if(Array.isArray(At))for(let It=0;It<At.length;It++){let Et=At[It];Ro(Et,K,B,Z),q.add(Et)}else Ro(At,K,B,Z),q.add(At)}),E=A.pop(),z!==null&&z.renderEnd(),q},this.compileAsync=function(w,B,K=null){let q=this.compile(w,B,K);return new Promise(Z=>{function At(){if(q.forEach(function(It){let Lt=zt.get(It).currentProgram;(Lt===void 0||Lt.isReady())&&q.delete(It)}),q.size===0){Z(w);return}setTimeout(At,10)}Yt.get("KHR_parallel_shader_compile")!==null?At():setTimeout(At,10)})};let Mr=null;function Xh(w){Mr&&Mr(w)}function tl(){rs.stop()}function zi(){rs.start()}let rs=new y0;rs.setAnimationLoop(Xh),typeof self<"u"&&rs.setContext(self),this.setAnimationLoop=function(w){Mr=w,at.setAnimationLoop(w),w===null?rs.stop():rs.start()},at.addEventListener("sessionstart",tl),at.addEventListener("sessionend",zi),this.render=function(w,B){if(B!==void 0&&B.isCamera!==!0){Qt("WebGLRenderer.render: camera is not an instance of THREE.Camera.");return}if(D===!0)return;z!==null&&z.renderStart(w,B);let K=at.enabled===!0&&at.isPresenting===!0,q=k!==null&&(lt===null||K)&&k.begin(N,lt);if(w.matrixWorldAutoUpdate===!0&&w.updateMatrixWorld(),B.parent===null&&B.matrixWorldAutoUpdate===!0&&B.updateMatrixWorld(),at.enabled===!0&&at.isPresenting===!0&&(k===null||k.isCompositing()===!1)&&(at.cameraAutoUpdate===!0&&at.updateCamera(B),B=at.getCamera()),w.isScene===!0&&w.onBeforeRender(N,w,B,lt),E=tt.get(w,A.length),E.init(B),E.state.textureUnits=Xt.getTextureUnits(),A.push(E),De.multiplyMatrices(B.projectionMatrix,B.matrixWorldInverse),B.isArrayCamera?Ye.setFromArrayCamera(B):ee.setFromProjectionMatrix(De,yi,B.reversedDepth),sn=this.localClippingEnabled,Be=nt.init(this.clippingPlanes,sn),P=vt.get(w,x.length),P.init(),x.push(P),this.info.render.frame++,at.enabled===!0&&at.isPresenting===!0){let It=N.xr.getDepthSensingMesh();It!==null&&os(It,B,-1/0,N.sortObjects)}os(w,B,0,N.sortObjects),P.finish(),z!==null&&z.updateLights(E.state.lightsArray),N.sortObjects===!0&&P.sort(Ht,se),$e=at.enabled===!1||at.isPresenting===!1||at.hasDepthSensing()===!1,$e&&U.addToRenderList(P,w),this.info.autoReset===!0&&this.info.reset(),Be===!0&&nt.beginShadows();let Z=E.state.shadowsArray;if(ft.render(Z,w,B),Be===!0&&nt.endShadows(),(q&&k.hasRenderPass())===!1){let It=P.opaque,Et=P.transmissive;if(E.setupLights(),B.isArrayCamera){let Lt=B.cameras;if(Et.length>0)for(let kt=0,jt=Lt.length;kt<jt;kt++){let de=Lt[kt];Ai(It,Et,w,de)}$e&&U.render(w);for(let kt=0,jt=Lt.length;kt<jt;kt++){let de=Lt[kt];Po(P,w,de,de.viewport)}}else Et.length>0&&Ai(It,Et,w,B),$e&&U.render(w),Po(P,w,B)}lt!==null&&G===0&&(Xt.updateMultisampleRenderTarget(lt),Xt.updateRenderTargetMipmap(lt)),q&&k.end(N),w.isScene===!0&&w.onAfterRender(N,w,B),St.resetDefaultState(),$=-1,j=null,A.pop(),A.length>0?(E=A[A.length-1],Xt.setTextureUnits(E.state.textureUnits),Be===!0&&nt.setGlobalState(N.clippingPlanes,E.state.camera)):E=null,x.pop(),x.length>0?P=x[x.length-1]:P=null,z!==null&&z.renderEnd()};function os(w,B,K,q){if(w.visible===!1)return;if(w.layers.test(B.layers)){if(w.isGroup)K=w.renderOrder;else if(w.isLOD)w.autoUpdate===!0&&w.update(B);else if(w.isLight)E.pushLight(w),w.castShadow&&E.pushShadow(w);else if(w.isSprite){let It=B.isArrayCamera?Ye:ee;if(!w.frustumCulled||w.intersectsFrustum(It)){q&&ve.setFromMatrixPosition(w.matrixWorld).applyMatrix4(De);let Et=ct.update(w),Lt=w.material;Lt.visible&&P.push(w,Et,Lt,K,ve.z,null,B)}}else if(w.isMesh||w.isLine||w.isPoints){let It=B.isArrayCamera?Ye:ee;if(!w.frustumCulled||w.intersectsFrustum(It)){let Et=ct.update(w),Lt=w.material;if(q&&(w.boundingSphere!==void 0?(w.boundingSphere===null&&w.computeBoundingSphere(),ve.copy(w.boundingSphere.center)):(Et.boundingSphere===null&&Et.computeBoundingSphere(),ve.copy(Et.boundingSphere.center)),ve.applyMatrix4(w.matrixWorld).applyMatrix4(De)),Array.isArray(Lt)){let kt=Et.groups;for(let jt=0,de=kt.length;jt<de;jt++){let Bt=kt[jt],fe=Lt[Bt.materialIndex];fe&&fe.visible&&P.push(w,Et,fe,K,ve.z,Bt,B)}}else Lt.visible&&P.push(w,Et,Lt,K,ve.z,null,B)}}}let At=w.children;for(let It=0,Et=At.length;It<Et;It++)os(At[It],B,K,q)}function Po(w,B,K,q){let{opaque:Z,transmissive:At,transparent:It}=w;E.setupLightsView(K),Be===!0&&nt.setGlobalState(N.clippingPlanes,K),q&&bt.viewport(it.copy(q)),Z.length>0&&Ke(Z,B,K),At.length>0&&Ke(At,B,K),It.length>0&&Ke(It,B,K),bt.buffers.depth.setTest(!0),bt.buffers.depth.setMask(!0),bt.buffers.color.setMask(!0),bt.setPolygonOffset(!1)}function Ai(w,B,K,q){if((K.isScene===!0?K.overrideMaterial:null)!==null)return;if(E.state.transmissionRenderTarget[q.id]===void 0){let Bt=Yt.has("EXT_color_buffer_half_float")||Yt.has("EXT_color_buffer_float");E.state.transmissionRenderTarget[q.id]=new ci(1,1,{generateMipmaps:!0,type:Bt?Bi:jn,minFilter:Ms,samples:Math.max(4,re.samples),stencilBuffer:r,resolveDepthBuffer:!1,resolveStencilBuffer:!1,storeMultisampledDepthBuffer:!1,storeMultisampledStencilBuffer:!1,colorSpace:_e.workingColorSpace})}let At=E.state.transmissionRenderTarget[q.id],It=q.viewport||it;At.setSize(It.z*N.transmissionResolutionScale,It.w*N.transmissionResolutionScale);let Et=N.getRenderTarget(),Lt=N.getActiveCubeFace(),kt=N.getActiveMipmapLevel();N.setRenderTarget(At),N.getClearColor(Q),mt=N.getClearAlpha(),mt<1&&N.setClearColor(16777215,.5),N.clear(),$e&&U.render(K);let jt=N.toneMapping;N.toneMapping=Qi;let de=q.viewport;if(q.viewport!==void 0&&(q.viewport=void 0),E.setupLightsView(q),Be===!0&&nt.setGlobalState(N.clippingPlanes,q),Ke(w,K,q),Xt.updateMultisampleRenderTarget(At),Xt.updateRenderTargetMipmap(At),Yt.has("WEBGL_multisampled_render_to_texture")===!1){let Bt=!1;for(let fe=0,Je=B.length;fe<Je;fe++){let Pe=B[fe],{object:Ie,geometry:fn,material:Ut,group:on}=Pe;if(Ut.side===Mi&&Ie.layers.test(q.layers)){let me=Ut.side;Ut.side=Zn,Ut.needsUpdate=!0,en(Ie,K,q,fn,Ut,on),Ut.side=me,Ut.needsUpdate=!0,Bt=!0}}Bt===!0&&(Xt.updateMultisampleRenderTarget(At),Xt.updateRenderTargetMipmap(At))}N.setRenderTarget(Et,Lt,kt),N.setClearColor(Q,mt),de!==void 0&&(q.viewport=de),N.toneMapping=jt}function Ke(w,B,K){let q=B.isScene===!0?B.overrideMaterial:null;for(let Z=0,At=w.length;Z<At;Z++){let It=w[Z],{object:Et,geometry:Lt,group:kt}=It,jt=It.material;jt.allowOverride===!0&&q!==null&&(jt=q),Et.layers.test(K.layers)&&en(Et,B,K,Lt,jt,kt)}}function en(w,B,K,q,Z,At){z!==null&&Z.isNodeMaterial&&z.setObject(w,Z),w.onBeforeRender(N,B,K,q,Z,At),w.modelViewMatrix.multiplyMatrices(K.matrixWorldInverse,w.matrixWorld),w.normalMatrix.getNormalMatrix(w.modelViewMatrix),Z.onBeforeRender(N,B,K,q,w,At),Z.transparent===!0&&Z.side===Mi&&Z.forceSinglePass===!1?(Z.side=Zn,Z.needsUpdate=!0,N.renderBufferDirect(K,B,q,Z,w,At),Z.side=Ys,Z.needsUpdate=!0,N.renderBufferDirect(K,B,q,Z,w,At),Z.side=Mi):N.renderBufferDirect(K,B,q,Z,w,At),w.onAfterRender(N,B,K,q,Z,At)}function nn(w){let B=0;for(let K of w)K.texture!==null&&B++;return B}function Vi(w,B,K){B.isScene!==!0&&(B=dn);let q=zt.get(w),Z=E.state.lights,At=E.state.shadowsArray,It=Z.state.version,Et=rt.getParameters(w,Z.state,At,B,K,E.state.lightProbeGridArray),Lt=rt.getProgramCacheKey(Et),kt=q.programs;q.environment=w.isMeshStandardMaterial||w.isMeshLambertMaterial||w.isMeshPhongMaterial?B.environment:null,q.fog=B.fog;let jt=w.isMeshStandardMaterial||w.isMeshLambertMaterial&&!w.envMap||w.isMeshPhongMaterial&&!w.envMap;q.envMap=C.get(w.envMap||q.environment,jt),q.envMapRotation=q.environment!==null&&w.envMap===null?B.environmentRotation:w.envMapRotation,kt===void 0&&(w.addEventListener("dispose",oe),kt=new Map,q.programs=kt,q.programVariants=new Map);let de=kt.get(Lt);if(de!==void 0){if(q.currentProgram===de&&q.lightsStateVersion===It)return Io(w,Et),de}else Et.uniforms=rt.getUniforms(w),z!==null&&w.isNodeMaterial&&z.build(w,K,Et),w.onBeforeCompile(Et,N),de=rt.acquireProgram(Et,Lt),kt.set(Lt,de),q.uniforms=Et.uniforms;let Bt=q.uniforms;return(!w.isShaderMaterial&&!w.isRawShaderMaterial||w.clipping===!0)&&(Bt.clippingPlanes=nt.uniform),Io(w,Et),q.needsLights=Ts(w),q.lightsStateVersion=It,q.needsLights&&(Bt.ambientLightColor.value=Z.state.ambient,Bt.lightProbe.value=Z.state.probe,Bt.sunLights.value=Z.state.sun,Bt.sunLightShadows.value=Z.state.sunShadow,Bt.directionalLights.value=Z.state.directional,Bt.directionalLightShadows.value=Z.state.directionalShadow,Bt.spotLights.value=Z.state.spot,Bt.spotLightShadows.value=Z.state.spotShadow,Bt.rectAreaLights.value=Z.state.rectArea,Bt.ltc_1.value=Z.state.rectAreaLTC1,Bt.ltc_2.value=Z.state.rectAreaLTC2,Bt.pointLights.value=Z.state.point,Bt.pointLightShadows.value=Z.state.pointShadow,Bt.hemisphereLights.value=Z.state.hemi,Bt.sunShadowMatrix.value=Z.state.sunShadowMatrix,Bt.sunShadowCascade.value=Z.state.sunShadowCascade,Bt.directionalShadowMatrix.value=Z.state.directionalShadowMatrix,Bt.spotLightMatrix.value=Z.state.spotLightMatrix,Bt.spotLightMap.value=Z.state.spotLightMap,Bt.pointShadowMatrix.value=Z.state.pointShadowMatrix),q.numLightProbeGrids=nn(E.state.lightProbeGridArray),q.currentProgram=de,q.uniformsList=null,de}function Qn(w,B,K,q,Z){let At=zt.get(w),It=At.currentProgram.id+","+q+","+Z,Et=At.programVariants.get(It);return Et===void 0?(Et=Vi(w,B,K),At.programVariants.set(It,Et)):(At.currentProgram=Et,At.uniformsList=null,At.outputColorSpace=q,At.toneMapping=Z),Et}function Es(w){if(w.uniformsList===null){let B=w.currentProgram.getUniforms();w.uniformsList=So.seqWithValue(B.seq,w.uniforms)}return w.uniformsList}function Io(w,B){let K=zt.get(w);K.outputColorSpace=B.outputColorSpace,K.batching=B.batching,K.batchingColor=B.batchingColor,K.instancing=B.instancing,K.instancingColor=B.instancingColor,K.instancingMorph=B.instancingMorph,K.skinning=B.skinning,K.morphTargets=B.morphTargets,K.morphNormals=B.morphNormals,K.morphColors=B.morphColors,K.morphTargetsCount=B.morphTargetsCount,K.numClippingPlanes=B.numClippingPlanes,K.numIntersection=B.numClipIntersection,K.vertexAlphas=B.vertexAlphas,K.vertexTangents=B.vertexTangents,K.toneMapping=B.toneMapping}function Lo(w,B,K,q,Z){B.isScene!==!0&&(B=dn),Xt.resetTextureUnits();let At=B.fog,It=q.isMeshStandardMaterial||q.isMeshLambertMaterial||q.isMeshPhongMaterial?B.environment:null,Et=lt===null?N.outputColorSpace:lt.isXRRenderTarget===!0?lt.texture.colorSpace:_e.workingColorSpace,Lt=q.isMeshStandardMaterial||q.isMeshLambertMaterial&&!q.envMap||q.isMeshPhongMaterial&&!q.envMap,kt=C.get(q.envMap||It,Lt),jt=q.vertexColors===!0&&!!K.attributes.color&&K.attributes.color.itemSize===4,de=!!K.attributes.tangent&&(!!q.normalMap||q.anisotropy>0),Bt=!!K.morphAttributes.position,fe=!!K.morphAttributes.normal,Je=!!K.morphAttributes.color,Pe=Qi;q.toneMapped&&(lt===null||lt.isXRRenderTarget===!0)&&(Pe=N.toneMapping);let Ie=K.morphAttributes.position||K.morphAttributes.normal||K.morphAttributes.color,fn=Ie!==void 0?Ie.length:0,Ut=zt.get(q),on=E.state.lights;if(Be===!0&&(sn===!0||w!==j)){let Le=w===j&&q.id===$;nt.setState(q,w,Le)}let me=!1,as=!1;q.version===Ut.__version?Ut.needsLights&&Ut.lightsStateVersion!==on.state.version||Z.isBatchedMesh&&Ut.batching===!1||!Z.isBatchedMesh&&Ut.batching===!0||Z.isBatchedMesh&&Ut.batchingColor===!0&&Z._colorsTexture===null||Z.isBatchedMesh&&Ut.batchingColor===!1&&Z._colorsTexture!==null||Z.isInstancedMesh&&Ut.instancing===!1||!Z.isInstancedMesh&&Ut.instancing===!0||Z.isSkinnedMesh&&Ut.skinning===!1||!Z.isSkinnedMesh&&Ut.skinning===!0||Z.isInstancedMesh&&Ut.instancingColor===!0&&Z.instanceColor===null||Z.isInstancedMesh&&Ut.instancingColor===!1&&Z.instanceColor!==null||Z.isInstancedMesh&&Ut.instancingMorph===!0&&Z.morphTexture===null||Z.isInstancedMesh&&Ut.instancingMorph===!1&&Z.morphTexture!==null||Ut.envMap!==kt||q.fog===!0&&Ut.fog!==At||Ut.numClippingPlanes!==void 0&&(Ut.numClippingPlanes!==nt.numPlanes||Ut.numIntersection!==nt.numIntersection)||Ut.vertexAlphas!==jt||Ut.vertexTangents!==de||Ut.morphTargets!==Bt||Ut.morphNormals!==fe||Ut.morphColors!==Je||Ut.morphTargetsCount!==fn||Ut.numLightProbeGrids!==nn(E.state.lightProbeGridArray)?me=!0:(Ut.outputColorSpace!==Et||Ut.toneMapping!==Pe)&&(as=!0):(me=!0,Ut.__version=q.version);let an=Ut.currentProgram;(me===!0||as===!0)&&(an=as===!0?Qn(q,B,Z,Et,Pe):Vi(q,B,Z),z&&q.isNodeMaterial&&z.onUpdateProgram(q,an,Ut));let Ar=!1,Gi=!1,ls=!1,le=an.getUniforms(),je=Ut.uniforms;if(bt.useProgram(an.program)&&(Ar=!0,Gi=!0,ls=!0),q.id!==$&&($=q.id,Gi=!0),Ar||j!==w){bt.buffers.depth.getReversed()&&w.reversedDepth!==!0&&(w._reversedDepth=!0,w.updateProjectionMatrix()),le.setValue(F,"projectionMatrix",w.projectionMatrix),le.setValue(F,"viewMatrix",w.matrixWorldInverse);let ln=le.map.cameraPosition;ln!==void 0&&ln.setValue(F,xn.setFromMatrixPosition(w.matrixWorld)),re.logarithmicDepthBuffer&&le.setValue(F,"logDepthBufFC",2/(Math.log(w.far+1)/Math.LN2)),(q.isMeshPhongMaterial||q.isMeshToonMaterial||q.isMeshLambertMaterial||q.isMeshBasicMaterial||q.isMeshStandardMaterial||q.isShaderMaterial)&&le.setValue(F,"isOrthographic",w.isOrthographicCamera===!0),j!==w&&(j=w,Gi=!0,ls=!0)}if(Ut.needsLights&&(on.state.sunShadowMap.length>0&&le.setValue(F,"sunShadowMap",on.state.sunShadowMap,Xt),on.state.directionalShadowMap.length>0&&le.setValue(F,"directionalShadowMap",on.state.directionalShadowMap,Xt),on.state.spotShadowMap.length>0&&le.setValue(F,"spotShadowMap",on.state.spotShadowMap,Xt),on.state.pointShadowMap.length>0&&le.setValue(F,"pointShadowMap",on.state.pointShadowMap,Xt)),Z.isSkinnedMesh){le.setOptional(F,Z,"bindMatrix"),le.setOptional(F,Z,"bindMatrixInverse");let Le=Z.skeleton;Le&&(Le.boneTexture===null&&Le.computeBoneTexture(),le.setValue(F,"boneTexture",Le.boneTexture,Xt))}Z.isBatchedMesh&&(le.setOptional(F,Z,"batchingTexture"),le.setValue(F,"batchingTexture",Z._matricesTexture,Xt),le.setOptional(F,Z,"batchingIdTexture"),le.setValue(F,"batchingIdTexture",Z._indirectTexture,Xt),le.setOptional(F,Z,"batchingColorTexture"),Z._colorsTexture!==null&&le.setValue(F,"batchingColorTexture",Z._colorsTexture,Xt));let zn=K.morphAttributes;if((zn.position!==void 0||zn.normal!==void 0||zn.color!==void 0)&&st.update(Z,K,an),(Gi||Ut.receiveShadow!==Z.receiveShadow)&&(Ut.receiveShadow=Z.receiveShadow,le.setValue(F,"receiveShadow",Z.receiveShadow)),(q.isMeshStandardMaterial||q.isMeshLambertMaterial||q.isMeshPhongMaterial)&&q.envMap===null&&B.environment!==null&&(je.envMapIntensity.value=B.environmentIntensity),je.dfgLUT!==void 0&&(je.dfgLUT.value=u1()),Gi){if(le.setValue(F,"toneMappingExposure",N.toneMappingExposure),Ut.needsLights&&br(je,ls),At&&q.fog===!0&&_t.refreshFogUniforms(je,At),_t.refreshMaterialUniforms(je,q,Mt,Tt,E.state.transmissionRenderTarget[w.id]),Ut.needsLights&&Ut.numLightProbeGrids>0){let Le=M,ln=0;for(let Ln of E.state.lightProbeGridArray)Ln.texture!==null&&(Le.textures[ln]=Ln.texture,Le.min[ln]=Ln.boundingBox.min,Le.max[ln]=Ln.boundingBox.max,Le.resolution[ln]=Ln.resolution,ln++);for(let Ln in Le)Le[Ln].length=ln;je.probesSH.value=Le.textures,je.probesMin.value=Le.min,je.probesMax.value=Le.max,je.probesResolution.value=Le.resolution}So.upload(F,Es(Ut),je,Xt)}if(q.isShaderMaterial&&q.uniformsNeedUpdate===!0&&(So.upload(F,Es(Ut),je,Xt),q.uniformsNeedUpdate=!1),q.isSpriteMaterial&&le.setValue(F,"center",Z.center),le.setValue(F,"modelViewMatrix",Z.modelViewMatrix),le.setValue(F,"normalMatrix",Z.normalMatrix),le.setValue(F,"modelMatrix",Z.matrixWorld),q.uniformsGroups!==void 0){let Le=q.uniformsGroups;for(let ln=0,Ln=Le.length;ln<Ln;ln++){let el=Le[ln];Gt.update(el,an),Gt.bind(el,an)}}return an}function br(w,B){w.ambientLightColor.needsUpdate=B,w.lightProbe.needsUpdate=B,w.sunLights.needsUpdate=B,w.sunLightShadows.needsUpdate=B,w.directionalLights.needsUpdate=B,w.directionalLightShadows.needsUpdate=B,w.pointLights.needsUpdate=B,w.pointLightShadows.needsUpdate=B,w.spotLights.needsUpdate=B,w.spotLightShadows.needsUpdate=B,w.rectAreaLights.needsUpdate=B,w.hemisphereLights.needsUpdate=B}function Ts(w){return w.isMeshLambertMaterial||w.isMeshToonMaterial||w.isMeshPhongMaterial||w.isMeshStandardMaterial||w.isShadowMaterial||w.isShaderMaterial&&w.lights===!0}this.getActiveCubeFace=function(){return Y},this.getActiveMipmapLevel=function(){return G},this.getRenderTarget=function(){return lt},this.setRenderTargetTextures=function(w,B,K){let q=zt.get(w);q.__autoAllocateDepthBuffer=w.resolveDepthBuffer===!1,q.__autoAllocateDepthBuffer===!1&&(q.__useRenderToTexture=!1),zt.get(w.texture).__webglTexture=B,zt.get(w.depthTexture).__webglTexture=q.__autoAllocateDepthBuffer?void 0:K,q.__hasExternalTextures=!0},this.setRenderTargetFramebuffer=function(w,B){let K=zt.get(w);K.__webglFramebuffer=B,K.__useDefaultFramebuffer=B===void 0},this.setRenderTarget=function(w,B=0,K=0){lt=w,Y=B,G=K;let q=null,Z=!1,At=!1;if(w){let Et=zt.get(w);if(Et.__useDefaultFramebuffer!==void 0){bt.bindFramebuffer(F.FRAMEBUFFER,Et.__webglFramebuffer),it.copy(w.viewport),ut.copy(w.scissor),ht=w.scissorTest,bt.viewport(it),bt.scissor(ut),bt.setScissorTest(ht),$=-1;return}else if(Et.__webglFramebuffer===void 0)Xt.setupRenderTarget(w);else if(Et.__hasExternalTextures)Xt.rebindTextures(w,zt.get(w.texture).__webglTexture,zt.get(w.depthTexture).__webglTexture);else if(w.depthBuffer){let jt=w.depthTexture;if(Et.__boundDepthTexture!==jt){if(jt!==null&&zt.has(jt)&&(w.width!==jt.image.width||w.height!==jt.image.height))throw new Error("THREE.WebGLRenderer: Attached DepthTexture is initialized to the incorrect size.");Xt.setupDepthRenderbuffer(w)}}let Lt=w.texture;(Lt.isData3DTexture||Lt.isDataArrayTexture||Lt.isCompressedArrayTexture)&&(At=!0);let kt=zt.get(w).__webglFramebuffer;w.isWebGLCubeRenderTarget?(Array.isArray(kt[B])?q=kt[B][K]:q=kt[B],Z=!0):w.samples>0&&Xt.useMultisampledRTT(w)===!1?q=zt.get(w).__webglMultisampledFramebuffer:Array.isArray(kt)?q=kt[K]:q=kt,it.copy(w.viewport),ut.copy(w.scissor),ht=w.scissorTest}else it.copy(Vt).multiplyScalar(Mt).floor(),ut.copy(ue).multiplyScalar(Mt).floor(),ht=ae;if(K!==0&&(q=H),bt.bindFramebuffer(F.FRAMEBUFFER,q)&&bt.drawBuffers(w,q),bt.viewport(it),bt.scissor(ut),bt.setScissorTest(ht),Z){let Et=zt.get(w.texture);F.framebufferTexture2D(F.FRAMEBUFFER,F.COLOR_ATTACHMENT0,F.TEXTURE_CUBE_MAP_POSITIVE_X+B,Et.__webglTexture,K)}else if(At){let Et=B;for(let Lt=0;Lt<w.textures.length;Lt++){let kt=zt.get(w.textures[Lt]);F.framebufferTextureLayer(F.FRAMEBUFFER,F.COLOR_ATTACHMENT0+Lt,kt.__webglTexture,K,Et)}}else if(w!==null&&K!==0){let Et=zt.get(w.texture);F.framebufferTexture2D(F.FRAMEBUFFER,F.COLOR_ATTACHMENT0,F.TEXTURE_2D,Et.__webglTexture,K)}$=-1};function wr(w){let B=zt.get(w);return(B.__readFormat!==w.format||B.__readType!==w.type)&&(B.__readFormat=w.format,B.__readType=w.type,B.__formatReadable=re.textureFormatReadable(w.format),B.__typeReadable=re.textureTypeReadable(w.type)),B}this.readRenderTargetPixels=function(w,B,K,q,Z,At,It,Et=0){if(!(w&&w.isWebGLRenderTarget)){Qt("WebGLRenderer.readRenderTargetPixels: renderTarget is not THREE.WebGLRenderTarget.");return}let Lt=zt.get(w).__webglFramebuffer;if(w.isWebGLCubeRenderTarget&&It!==void 0&&(Lt=Lt[It],Array.isArray(Lt)&&(Lt=Lt[0])),Lt){bt.bindFramebuffer(F.FRAMEBUFFER,Lt);try{let kt=w.textures[Et],jt=kt.format,de=kt.type;w.textures.length>1&&F.readBuffer(F.COLOR_ATTACHMENT0+Et);let Bt=wr(kt);if(Bt.__formatReadable===!1){Qt("WebGLRenderer.readRenderTargetPixels: renderTarget is not in RGBA or implementation defined format.");return}if(Bt.__typeReadable===!1){Qt("WebGLRenderer.readRenderTargetPixels: renderTarget is not in UnsignedByteType or implementation defined type.");return}B>=0&&B<=w.width-q&&K>=0&&K<=w.height-Z&&F.readPixels(B,K,q,Z,gt.convert(jt),gt.convert(de),At)}finally{let kt=lt!==null?zt.get(lt).__webglFramebuffer:null;bt.bindFramebuffer(F.FRAMEBUFFER,kt)}}},this.readRenderTargetPixelsAsync=async function(w,B,K,q,Z,At,It,Et=0){if(!(w&&w.isWebGLRenderTarget))throw new Error("THREE.WebGLRenderer.readRenderTargetPixels: renderTarget is not THREE.WebGLRenderTarget.");let Lt=zt.get(w).__webglFramebuffer;if(w.isWebGLCubeRenderTarget&&It!==void 0&&(Lt=Lt[It],Array.isArray(Lt)&&(Lt=Lt[0])),Lt)if(B>=0&&B<=w.width-q&&K>=0&&K<=w.height-Z){bt.bindFramebuffer(F.FRAMEBUFFER,Lt);let kt=w.textures[Et],jt=kt.format,de=kt.type;w.textures.length>1&&F.readBuffer(F.COLOR_ATTACHMENT0+Et);let Bt=wr(kt);if(Bt.__formatReadable===!1)throw new Error("THREE.WebGLRenderer.readRenderTargetPixelsAsync: renderTarget is not in RGBA or implementation defined format.");if(Bt.__typeReadable===!1)throw new Error("THREE.WebGLRenderer.readRenderTargetPixelsAsync: renderTarget is not in UnsignedByteType or implementation defined type.");let fe=F.createBuffer();F.bindBuffer(F.PIXEL_PACK_BUFFER,fe),F.bufferData(F.PIXEL_PACK_BUFFER,At.byteLength,F.STREAM_READ),F.readPixels(B,K,q,Z,gt.convert(jt),gt.convert(de),0),F.bindBuffer(F.PIXEL_PACK_BUFFER,null);let Je=lt!==null?zt.get(lt).__webglFramebuffer:null;bt.bindFramebuffer(F.FRAMEBUFFER,Je);let Pe=F.fenceSync(F.SYNC_GPU_COMMANDS_COMPLETE,0);return F.flush(),await Zg(F,Pe,4),F.bindBuffer(F.PIXEL_PACK_BUFFER,fe),F.getBufferSubData(F.PIXEL_PACK_BUFFER,0,At),F.bindBuffer(F.PIXEL_PACK_BUFFER,null),F.deleteBuffer(fe),F.deleteSync(Pe),At}else throw new Error("THREE.WebGLRenderer.readRenderTargetPixelsAsync: requested read bounds are out of range.")},this.copyFramebufferToTexture=function(w,B=null,K=0){let q=Math.pow(2,-K),Z=Math.floor(w.image.width*q),At=Math.floor(w.image.height*q),It=B!==null?B.x:0,Et=B!==null?B.y:0;Xt.setTexture2D(w,0),F.copyTexSubImage2D(F.TEXTURE_2D,K,0,0,It,Et,Z,At),bt.unbindTexture()},this.copyTextureToTexture=function(w,B,K=null,q=null,Z=0,At=0){let It,Et,Lt,kt,jt,de,Bt,fe,Je,Pe=w.isCompressedTexture?w.mipmaps[At]:w.image;if(K!==null)It=K.max.x-K.min.x,Et=K.max.y-K.min.y,Lt=K.isBox3?K.max.z-K.min.z:1,kt=K.min.x,jt=K.min.y,de=K.isBox3?K.min.z:0;else{let le=Math.pow(2,-Z);It=Math.floor(Pe.width*le),Et=Math.floor(Pe.height*le),w.isDataArrayTexture?Lt=Pe.depth:w.isData3DTexture?Lt=Math.floor(Pe.depth*le):Lt=1,kt=0,jt=0,de=0}q!==null?(Bt=q.x,fe=q.y,Je=q.z):(Bt=0,fe=0,Je=0);let Ie=gt.convert(B.format),fn=gt.convert(B.type),Ut;B.isData3DTexture?(Xt.setTexture3D(B,0),Ut=F.TEXTURE_3D):B.isDataArrayTexture||B.isCompressedArrayTexture?(Xt.setTexture2DArray(B,0),Ut=F.TEXTURE_2D_ARRAY):(Xt.setTexture2D(B,0),Ut=F.TEXTURE_2D),bt.activeTexture(F.TEXTURE0),bt.pixelStorei(F.UNPACK_FLIP_Y_WEBGL,B.flipY),bt.pixelStorei(F.UNPACK_PREMULTIPLY_ALPHA_WEBGL,B.premultiplyAlpha),bt.pixelStorei(F.UNPACK_ALIGNMENT,B.unpackAlignment);let on=bt.getParameter(F.UNPACK_ROW_LENGTH),me=bt.getParameter(F.UNPACK_IMAGE_HEIGHT),as=bt.getParameter(F.UNPACK_SKIP_PIXELS),an=bt.getParameter(F.UNPACK_SKIP_ROWS),Ar=bt.getParameter(F.UNPACK_SKIP_IMAGES);bt.pixelStorei(F.UNPACK_ROW_LENGTH,Pe.width),bt.pixelStorei(F.UNPACK_IMAGE_HEIGHT,Pe.height),bt.pixelStorei(F.UNPACK_SKIP_PIXELS,kt),bt.pixelStorei(F.UNPACK_SKIP_ROWS,jt),bt.pixelStorei(F.UNPACK_SKIP_IMAGES,de);let Gi=w.isDataArrayTexture||w.isData3DTexture,ls=B.isDataArrayTexture||B.isData3DTexture;if(w.isDepthTexture){let le=zt.get(w),je=zt.get(B),zn=zt.get(le.__renderTarget),Le=zt.get(je.__renderTarget);bt.bindFramebuffer(F.READ_FRAMEBUFFER,zn.__webglFramebuffer),bt.bindFramebuffer(F.DRAW_FRAMEBUFFER,Le.__webglFramebuffer);for(let ln=0;ln<Lt;ln++)Gi&&(F.framebufferTextureLayer(F.READ_FRAMEBUFFER,F.COLOR_ATTACHMENT0,zt.get(w).__webglTexture,Z,de+ln),F.framebufferTextureLayer(F.DRAW_FRAMEBUFFER,F.COLOR_ATTACHMENT0,zt.get(B).__webglTexture,At,Je+ln)),F.blitFramebuffer(kt,jt,kt+It,jt+Et,Bt,fe,Bt+It,fe+Et,F.DEPTH_BUFFER_BIT,F.NEAREST);bt.bindFramebuffer(F.READ_FRAMEBUFFER,null),bt.bindFramebuffer(F.DRAW_FRAMEBUFFER,null)}else if(Z!==0||w.isRenderTargetTexture||zt.has(w)){let le=zt.get(w),je=zt.get(B);bt.bindFramebuffer(F.READ_FRAMEBUFFER,L),bt.bindFramebuffer(F.DRAW_FRAMEBUFFER,W);for(let zn=0;zn<Lt;zn++)Gi?F.framebufferTextureLayer(F.READ_FRAMEBUFFER,F.COLOR_ATTACHMENT0,le.__webglTexture,Z,de+zn):F.framebufferTexture2D(F.READ_FRAMEBUFFER,F.COLOR_ATTACHMENT0,F.TEXTURE_2D,le.__webglTexture,Z),ls?F.framebufferTextureLayer(F.DRAW_FRAMEBUFFER,F.COLOR_ATTACHMENT0,je.__webglTexture,At,Je+zn):F.framebufferTexture2D(F.DRAW_FRAMEBUFFER,F.COLOR_ATTACHMENT0,F.TEXTURE_2D,je.__webglTexture,At),Z!==0?F.blitFramebuffer(kt,jt,kt+It,jt+Et,Bt,fe,Bt+It,fe+Et,F.COLOR_BUFFER_BIT,F.NEAREST):ls?F.copyTexSubImage3D(Ut,At,Bt,fe,Je+zn,kt,jt,It,Et):F.copyTexSubImage2D(Ut,At,Bt,fe,kt,jt,It,Et);bt.bindFramebuffer(F.READ_FRAMEBUFFER,null),bt.bindFramebuffer(F.DRAW_FRAMEBUFFER,null)}else ls?w.isDataTexture||w.isData3DTexture?F.texSubImage3D(Ut,At,Bt,fe,Je,It,Et,Lt,Ie,fn,Pe.data):B.isCompressedArrayTexture?F.compressedTexSubImage3D(Ut,At,Bt,fe,Je,It,Et,Lt,Ie,Pe.data):F.texSubImage3D(Ut,At,Bt,fe,Je,It,Et,Lt,Ie,fn,Pe):w.isDataTexture?F.texSubImage2D(F.TEXTURE_2D,At,Bt,fe,It,Et,Ie,fn,Pe.data):w.isCompressedTexture?F.compressedTexSubImage2D(F.TEXTURE_2D,At,Bt,fe,Pe.width,Pe.height,Ie,Pe.data):F.texSubImage2D(F.TEXTURE_2D,At,Bt,fe,It,Et,Ie,fn,Pe);bt.pixelStorei(F.UNPACK_ROW_LENGTH,on),bt.pixelStorei(F.UNPACK_IMAGE_HEIGHT,me),bt.pixelStorei(F.UNPACK_SKIP_PIXELS,as),bt.pixelStorei(F.UNPACK_SKIP_ROWS,an),bt.pixelStorei(F.UNPACK_SKIP_IMAGES,Ar),At===0&&B.generateMipmaps===!0&&B.mipmapsAutoUpdate===!0&&F.generateMipmap(Ut),bt.unbindTexture()},this.initRenderTarget=function(w){zt.get(w).__webglFramebuffer===void 0&&Xt.setupRenderTarget(w)},this.initTexture=function(w){w.isCubeTexture?Xt.setTextureCube(w,0):w.isData3DTexture?Xt.setTexture3D(w,0):w.isDataArrayTexture||w.isCompressedArrayTexture?Xt.setTexture2DArray(w,0):Xt.setTexture2D(w,0),bt.unbindTexture()},this.resetState=function(){Y=0,G=0,lt=null,bt.reset(),St.reset()},typeof __THREE_DEVTOOLS__<"u"&&__THREE_DEVTOOLS__.dispatchEvent(new CustomEvent("observe",{detail:this}))}get coordinateSystem(){return yi}get outputColorSpace(){return this._outputColorSpace}set outputColorSpace(t){this._outputColorSpace=t;let e=this.getContext();e.drawingBufferColorSpace=_e._getDrawingBufferColorSpace(t),e.unpackColorSpace=_e._getUnpackColorSpace()}};var I0=new Cn,Eh=new O,$s=class extends Na{constructor(){super(),this.isLineSegmentsGeometry=!0,this.type="LineSegmentsGeometry";let t=[-1,2,0,1,2,0,-1,1,0,1,1,0,-1,0,0,1,0,0,-1,-1,0,1,-1,0],e=[-1,2,1,2,-1,1,1,1,-1,-1,1,-1,-1,-2,1,-2],n=[0,2,1,2,3,1,2,4,3,4,5,3,4,6,5,6,7,5];this.setIndex(n),this.setAttribute("position",new Ce(t,3)),this.setAttribute("uv",new Ce(e,2))}applyMatrix4(t){let e=this.attributes.instanceStart,n=this.attributes.instanceEnd;return e!==void 0&&(e.applyMatrix4(t),n.applyMatrix4(t),e.needsUpdate=!0),this.boundingBox!==null&&this.computeBoundingBox(),this.boundingSphere!==null&&this.computeBoundingSphere(),this}setPositions(t){let e;t instanceof Float32Array?e=t:Array.isArray(t)&&(e=new Float32Array(t));let n=new qs(e,6,1);return this.setAttribute("instanceStart",new Ui(n,3,0)),this.setAttribute("instanceEnd",new Ui(n,3,3)),this.instanceCount=this.attributes.instanceStart.count,this.computeBoundingBox(),this.computeBoundingSphere(),this}setColors(t){let e;t instanceof Float32Array?e=t:Array.isArray(t)&&(e=new Float32Array(t));let n=new qs(e,6,1);return this.setAttribute("instanceColorStart",new Ui(n,3,0)),this.setAttribute("instanceColorEnd",new Ui(n,3,3)),this}fromWireframeGeometry(t){return this.setPositions(t.attributes.position.array),this}fromEdgesGeometry(t){return this.setPositions(t.attributes.position.array),this}fromMesh(t){return this.fromWireframeGeometry(new Ta(t.geometry)),this}fromLineSegments(t){let e=t.geometry;return this.setPositions(e.attributes.position.array),this}computeBoundingBox(){this.boundingBox===null&&(this.boundingBox=new Cn);let t=this.attributes.instanceStart,e=this.attributes.instanceEnd;t!==void 0&&e!==void 0&&(this.boundingBox.setFromBufferAttribute(t),I0.setFromBufferAttribute(e),this.boundingBox.union(I0))}computeBoundingSphere(){this.boundingSphere===null&&(this.boundingSphere=new hi),this.boundingBox===null&&this.computeBoundingBox();let t=this.attributes.instanceStart,e=this.attributes.instanceEnd;if(t!==void 0&&e!==void 0){let n=this.boundingSphere.center;this.boundingBox.getCenter(n);let s=0;for(let r=0,o=t.count;r<o;r++)Eh.fromBufferAttribute(t,r),s=Math.max(s,n.distanceToSquared(Eh)),Eh.fromBufferAttribute(e,r),s=Math.max(s,n.distanceToSquared(Eh));this.boundingSphere.radius=Math.sqrt(s),isNaN(this.boundingSphere.radius)&&console.error("THREE.LineSegmentsGeometry.computeBoundingSphere(): Computed radius is NaN. The instanced position data is likely to have NaN values.",this)}}toJSON(){}};Pt.line={worldUnits:{value:1},linewidth:{value:1},resolution:{value:new Kt},dashOffset:{value:0},dashScale:{value:1},dashSize:{value:1},gapSize:{value:1}};Jn.line={uniforms:Wa.merge([Pt.common,Pt.fog,Pt.line]),vertexShader:`
		#include <common>
		#include <color_pars_vertex>
		#include <fog_pars_vertex>
		#include <logdepthbuf_pars_vertex>
		#include <clipping_planes_pars_vertex>

		uniform float linewidth;
		uniform vec2 resolution;

		attribute vec3 instanceStart;
		attribute vec3 instanceEnd;

		attribute vec3 instanceColorStart;
		attribute vec3 instanceColorEnd;

		#ifdef WORLD_UNITS

			varying vec4 worldPos;
			varying vec3 worldStart;
			varying vec3 worldEnd;

			#ifdef USE_DASH

				varying vec2 vUv;

			#endif

		#else

			varying vec2 vUv;

		#endif

		#ifdef USE_DASH

			uniform float dashScale;
			attribute float instanceDistanceStart;
			attribute float instanceDistanceEnd;
			varying float vLineDistance;

		#endif

		float trimSegmentAlpha( const in vec4 start, const in vec4 end ) {

			// compute the interpolation factor needed to trim the segment so it terminates
			// between the camera plane and the near plane

			// conservative estimate of the near plane
			float a = projectionMatrix[ 2 ][ 2 ]; // 3nd entry in 3th column
			float b = projectionMatrix[ 3 ][ 2 ]; // 3nd entry in 4th column

			// we need different nearEstimate formula for reversed and default depth buffer
			// a is positive with a reversed depth buffer so it can be used for controlling the code flow
			float nearEstimate = ( a > 0.0 ) ? ( - b / ( a + 1.0 ) ) : ( - 0.5 * b / a );

			return ( nearEstimate - start.z ) / ( end.z - start.z );

		}

		void main() {

			#ifdef USE_COLOR

				vColor.xyz = ( position.y < 0.5 ) ? instanceColorStart : instanceColorEnd;

			#endif

			float aspect = resolution.x / resolution.y;

			// camera space
			vec4 start = modelViewMatrix * vec4( instanceStart, 1.0 );
			vec4 end = modelViewMatrix * vec4( instanceEnd, 1.0 );

			#ifdef USE_DASH

				float lineDistanceStart = dashScale * instanceDistanceStart;
				float lineDistanceEnd = dashScale * instanceDistanceEnd;

			#endif

			#ifdef WORLD_UNITS

				worldStart = start.xyz;
				worldEnd = end.xyz;

			#else

				vUv = uv;

			#endif

			// special case for perspective projection, and segments that terminate either in, or behind, the camera plane
			// clearly the gpu firmware has a way of addressing this issue when projecting into ndc space
			// but we need to perform ndc-space calculations in the shader, so we must address this issue directly
			// perhaps there is a more elegant solution -- WestLangley

			bool perspective = ( projectionMatrix[ 2 ][ 3 ] == - 1.0 ); // 4th entry in the 3rd column

			if ( perspective ) {

				if ( start.z < 0.0 && end.z >= 0.0 ) {

					float alpha = trimSegmentAlpha( start, end );
					end.xyz = mix( start.xyz, end.xyz, alpha );

					#ifdef USE_DASH

						lineDistanceEnd = mix( lineDistanceStart, lineDistanceEnd, alpha );

					#endif

				} else if ( end.z < 0.0 && start.z >= 0.0 ) {

					float alpha = trimSegmentAlpha( end, start );
					start.xyz = mix( end.xyz, start.xyz, alpha );

					#ifdef USE_DASH

						lineDistanceStart = mix( lineDistanceEnd, lineDistanceStart, alpha );

					#endif

				}

			}

			#ifdef USE_DASH

				vLineDistance = ( position.y < 0.5 ) ? lineDistanceStart : lineDistanceEnd;
				vUv = uv;

			#endif

			// clip space
			vec4 clipStart = projectionMatrix * start;
			vec4 clipEnd = projectionMatrix * end;

			// ndc space
			vec3 ndcStart = clipStart.xyz / clipStart.w;
			vec3 ndcEnd = clipEnd.xyz / clipEnd.w;

			// direction
			vec2 dir = ndcEnd.xy - ndcStart.xy;

			// account for clip-space aspect ratio
			dir.x *= aspect;
			dir = normalize( dir );

			#ifdef WORLD_UNITS

				vec3 worldDir = normalize( end.xyz - start.xyz );
				vec3 tmpFwd = perspective ? normalize( mix( start.xyz, end.xyz, 0.5 ) ) : vec3( 0.0, 0.0, - 1.0 );
				vec3 worldUp = normalize( cross( worldDir, tmpFwd ) );
				vec3 worldFwd = cross( worldDir, worldUp );
				worldPos = position.y < 0.5 ? start: end;

				// height offset
				float hw = linewidth * 0.5;
				worldPos.xyz += position.x < 0.0 ? hw * worldUp : - hw * worldUp;

				// don't extend the line if we're rendering dashes because we
				// won't be rendering the endcaps
				#ifndef USE_DASH

					// cap extension
					worldPos.xyz += position.y < 0.5 ? - hw * worldDir : hw * worldDir;

					// add width to the box
					worldPos.xyz += worldFwd * hw;

					// endcaps
					if ( position.y > 1.0 || position.y < 0.0 ) {

						worldPos.xyz -= worldFwd * 2.0 * hw;

					}

				#endif

				// project the worldpos
				vec4 clip = projectionMatrix * worldPos;

				// shift the depth of the projected points so the line
				// segments overlap neatly
				vec3 clipPose = ( position.y < 0.5 ) ? ndcStart : ndcEnd;

				// only shift the depth of vertices in front of the camera (#35137)
				if ( clip.w > 0.0 ) clip.z = clipPose.z * clip.w;

			#else

				vec2 offset = vec2( dir.y, - dir.x );
				// undo aspect ratio adjustment
				dir.x /= aspect;
				offset.x /= aspect;

				// sign flip
				if ( position.x < 0.0 ) offset *= - 1.0;

				// endcaps
				if ( position.y < 0.0 ) {

					offset += - dir;

				} else if ( position.y > 1.0 ) {

					offset += dir;

				}

				// adjust for linewidth
				offset *= linewidth;

				// adjust for clip-space to screen-space conversion // maybe resolution should be based on viewport ...
				offset /= resolution.y;

				// select end
				vec4 clip = ( position.y < 0.5 ) ? clipStart : clipEnd;

				// back to clip space
				offset *= clip.w;

				clip.xy += offset;

			#endif

			gl_Position = clip;

			vec4 mvPosition = ( position.y < 0.5 ) ? start : end; // this is an approximation

			#include <logdepthbuf_vertex>
			#include <clipping_planes_vertex>
			#include <fog_vertex>

		}
		`,fragmentShader:`
		uniform vec3 diffuse;
		uniform float opacity;
		uniform float linewidth;

		#ifdef USE_DASH

			uniform float dashOffset;
			uniform float dashSize;
			uniform float gapSize;

		#endif

		varying float vLineDistance;

		#ifdef WORLD_UNITS

			varying vec4 worldPos;
			varying vec3 worldStart;
			varying vec3 worldEnd;

			#ifdef USE_DASH

				varying vec2 vUv;

			#endif

		#else

			varying vec2 vUv;

		#endif

		#include <common>
		#include <color_pars_fragment>
		#include <fog_pars_fragment>
		#include <logdepthbuf_pars_fragment>
		#include <clipping_planes_pars_fragment>

		vec2 closestLineToLine(vec3 p1, vec3 p2, vec3 p3, vec3 p4) {

			float mua;
			float mub;

			vec3 p13 = p1 - p3;
			vec3 p43 = p4 - p3;

			vec3 p21 = p2 - p1;

			float d1343 = dot( p13, p43 );
			float d4321 = dot( p43, p21 );
			float d1321 = dot( p13, p21 );
			float d4343 = dot( p43, p43 );
			float d2121 = dot( p21, p21 );

			float denom = d2121 * d4343 - d4321 * d4321;

			float numer = d1343 * d4321 - d1321 * d4343;

			mua = numer / denom;
			mua = clamp( mua, 0.0, 1.0 );
			mub = ( d1343 + d4321 * ( mua ) ) / d4343;
			mub = clamp( mub, 0.0, 1.0 );

			return vec2( mua, mub );

		}

		void main() {

			float alpha = opacity;
			vec4 diffuseColor = vec4( diffuse, alpha );

			#include <clipping_planes_fragment>

			#ifdef USE_DASH

				if ( vUv.y < - 1.0 || vUv.y > 1.0 ) discard; // discard endcaps

				if ( mod( vLineDistance + dashOffset, dashSize + gapSize ) > dashSize ) discard; // todo - FIX

			#endif

			#ifdef WORLD_UNITS

				float len;

				if ( isOrthographic ) {

					// View rays are parallel to the z axis so the distance reduces to camera-space XY
					vec2 lineDir = worldEnd.xy - worldStart.xy;
					float t = clamp( dot( worldPos.xy - worldStart.xy, lineDir ) / dot( lineDir, lineDir ), 0.0, 1.0 );
					len = length( worldStart.xy + lineDir * t - worldPos.xy );

				} else {

					// Find the closest points on the view ray and the line segment
					vec3 rayEnd = normalize( worldPos.xyz ) * 1e5;
					vec3 lineDir = worldEnd - worldStart;
					vec2 params = closestLineToLine( worldStart, worldEnd, vec3( 0.0, 0.0, 0.0 ), rayEnd );

					vec3 p1 = worldStart + lineDir * params.x;
					vec3 p2 = rayEnd * params.y;
					vec3 delta = p1 - p2;
					len = length( delta );

				}

				float norm = len / linewidth;

				#ifndef USE_DASH

					#ifdef USE_ALPHA_TO_COVERAGE

						float dnorm = fwidth( norm );
						alpha = 1.0 - smoothstep( 0.5 - dnorm, 0.5 + dnorm, norm );

					#else

						if ( norm > 0.5 ) {

							discard;

						}

					#endif

				#endif

			#else

				#ifdef USE_ALPHA_TO_COVERAGE

					// artifacts appear on some hardware if a derivative is taken within a conditional
					float a = vUv.x;
					float b = ( vUv.y > 0.0 ) ? vUv.y - 1.0 : vUv.y + 1.0;
					float len2 = a * a + b * b;
					float dlen = fwidth( len2 );

					if ( abs( vUv.y ) > 1.0 ) {

						alpha = 1.0 - smoothstep( 1.0 - dlen, 1.0 + dlen, len2 );

					}

				#else

					if ( abs( vUv.y ) > 1.0 ) {

						float a = vUv.x;
						float b = ( vUv.y > 0.0 ) ? vUv.y - 1.0 : vUv.y + 1.0;
						float len2 = a * a + b * b;

						if ( len2 > 1.0 ) discard;

					}

				#endif

			#endif

			#include <logdepthbuf_fragment>
			#include <color_fragment>

			gl_FragColor = vec4( diffuseColor.rgb, alpha );

			#include <tonemapping_fragment>
			#include <colorspace_fragment>
			#include <fog_fragment>
			#include <premultiplied_alpha_fragment>

		}
		`};var As=class extends Si{constructor(t){super({type:"LineMaterial",uniforms:Wa.clone(Jn.line.uniforms),vertexShader:Jn.line.vertexShader,fragmentShader:Jn.line.fragmentShader,clipping:!0}),this.isLineMaterial=!0,this.setValues(t)}get color(){return this.uniforms.diffuse.value}set color(t){this.uniforms.diffuse.value=t}get worldUnits(){return"WORLD_UNITS"in this.defines}set worldUnits(t){t===!0!==this.worldUnits&&(this.needsUpdate=!0),t===!0?this.defines.WORLD_UNITS="":delete this.defines.WORLD_UNITS}get linewidth(){return this.uniforms.linewidth.value}set linewidth(t){this.uniforms.linewidth&&(this.uniforms.linewidth.value=t)}get dashed(){return"USE_DASH"in this.defines}set dashed(t){t===!0!==this.dashed&&(this.needsUpdate=!0),t===!0?this.defines.USE_DASH="":delete this.defines.USE_DASH}get dashScale(){return this.uniforms.dashScale.value}set dashScale(t){this.uniforms.dashScale.value=t}get dashSize(){return this.uniforms.dashSize.value}set dashSize(t){this.uniforms.dashSize.value=t}get dashOffset(){return this.uniforms.dashOffset.value}set dashOffset(t){this.uniforms.dashOffset.value=t}get gapSize(){return this.uniforms.gapSize.value}set gapSize(t){this.uniforms.gapSize.value=t}get opacity(){return this.uniforms.opacity.value}set opacity(t){this.uniforms&&(this.uniforms.opacity.value=t)}get resolution(){return this.uniforms.resolution.value}set resolution(t){this.uniforms.resolution.value.copy(t)}get alphaToCoverage(){return"USE_ALPHA_TO_COVERAGE"in this.defines}set alphaToCoverage(t){this.defines&&(t===!0!==this.alphaToCoverage&&(this.needsUpdate=!0),t===!0?this.defines.USE_ALPHA_TO_COVERAGE="":delete this.defines.USE_ALPHA_TO_COVERAGE)}};var lf=new Re,L0=new O,D0=new O,Rn=new Re,Pn=new Re,es=new Re,cf=new O,hf=new ye,In=new Ua,N0=new O,Th=new Cn,Ch=new hi,ns=new Re,is,yr;function U0(i,t,e){return ns.set(0,0,-t,1).applyMatrix4(i.projectionMatrix),ns.multiplyScalar(1/ns.w),ns.x=yr/e.width,ns.y=yr/e.height,ns.applyMatrix4(i.projectionMatrixInverse),ns.multiplyScalar(1/ns.w),Math.abs(Math.max(ns.x,ns.y))}function d1(i,t){let e=i.matrixWorld,n=i.geometry,s=n.attributes.instanceStart,r=n.attributes.instanceEnd,o=Math.min(n.instanceCount,s.count);for(let a=0,l=o;a<l;a++){In.start.fromBufferAttribute(s,a),In.end.fromBufferAttribute(r,a),In.applyMatrix4(e);let c=new O,h=new O;is.distanceSqToSegment(In.start,In.end,h,c),h.distanceTo(c)<yr*.5&&t.push({point:h,pointOnLine:c,distance:is.origin.distanceTo(h),object:i,face:null,faceIndex:a,uv:null,uv1:null})}}function f1(i,t,e){let n=t.projectionMatrix,r=i.material.resolution,o=i.matrixWorld,a=i.geometry,l=a.attributes.instanceStart,c=a.attributes.instanceEnd,h=Math.min(a.instanceCount,l.count),d=-t.near;is.at(1,es),es.w=1,es.applyMatrix4(t.matrixWorldInverse),es.applyMatrix4(n),es.multiplyScalar(1/es.w),es.x*=r.x/2,es.y*=r.y/2,es.z=0,cf.copy(es),hf.multiplyMatrices(t.matrixWorldInverse,o);for(let u=0,f=h;u<f;u++){if(Rn.fromBufferAttribute(l,u),Pn.fromBufferAttribute(c,u),Rn.w=1,Pn.w=1,Rn.applyMatrix4(hf),Pn.applyMatrix4(hf),Rn.z>d&&Pn.z>d)continue;if(Rn.z>d){let T=Rn.z-Pn.z,M=(Rn.z-d)/T;Rn.lerp(Pn,M)}else if(Pn.z>d){let T=Pn.z-Rn.z,M=(Pn.z-d)/T;Pn.lerp(Rn,M)}Rn.applyMatrix4(n),Pn.applyMatrix4(n),Rn.multiplyScalar(1/Rn.w),Pn.multiplyScalar(1/Pn.w),Rn.x*=r.x/2,Rn.y*=r.y/2,Pn.x*=r.x/2,Pn.y*=r.y/2,In.start.copy(Rn),In.start.z=0,In.end.copy(Pn),In.end.z=0;let y=In.closestPointToPointParameter(cf,!0);In.at(y,N0);let m=qd.lerp(Rn.z,Pn.z,y),p=m>=-1&&m<=1,v=cf.distanceTo(N0)<yr*.5;if(p&&v){In.start.fromBufferAttribute(l,u),In.end.fromBufferAttribute(c,u),In.start.applyMatrix4(o),In.end.applyMatrix4(o);let T=new O,M=new O;is.distanceSqToSegment(In.start,In.end,M,T),e.push({point:M,pointOnLine:T,distance:is.origin.distanceTo(M),object:i,face:null,faceIndex:u,uv:null,uv1:null})}}}var bo=class extends xe{constructor(t=new $s,e=new As({color:Math.random()*16777215})){super(t,e),this.isLineSegments2=!0,this.type="LineSegments2"}computeLineDistances(){let t=this.geometry,e=t.attributes.instanceStart,n=t.attributes.instanceEnd,s=new Float32Array(2*e.count);for(let o=0,a=0,l=e.count;o<l;o++,a+=2)L0.fromBufferAttribute(e,o),D0.fromBufferAttribute(n,o),s[a]=a===0?0:s[a-1],s[a+1]=s[a]+L0.distanceTo(D0);let r=new qs(s,2,1);return t.setAttribute("instanceDistanceStart",new Ui(r,1,0)),t.setAttribute("instanceDistanceEnd",new Ui(r,1,1)),this}raycast(t,e){let n=this.material.worldUnits,s=t.camera;if(s===null&&!n&&console.error('LineSegments2: "Raycaster.camera" needs to be set in order to raycast against LineSegments2 while worldUnits is set to false.'),n===!1&&(this.material.resolution.x===0||this.material.resolution.y===0))return;let r=t.params.Line2!==void 0&&t.params.Line2.threshold||0;is=t.ray;let o=this.matrixWorld,a=this.geometry,l=this.material;yr=l.linewidth+r,a.boundingSphere===null&&a.computeBoundingSphere(),Ch.copy(a.boundingSphere).applyMatrix4(o);let c;if(n)c=yr*.5;else{let d=Math.max(s.near,Ch.distanceToPoint(is.origin));c=U0(s,d,l.resolution)}if(Ch.radius+=c,is.intersectsSphere(Ch)===!1)return;a.boundingBox===null&&a.computeBoundingBox(),Th.copy(a.boundingBox).applyMatrix4(o);let h;if(n)h=yr*.5;else{let d=Math.max(s.near,Th.distanceToPoint(is.origin));h=U0(s,d,l.resolution)}Th.expandByScalar(h),is.intersectsBox(Th)!==!1&&(n?d1(this,e):f1(this,s,e))}onBeforeRender(t){let e=this.material.uniforms;e&&e.resolution&&(t.getViewport(lf),this.material.uniforms.resolution.value.set(lf.z,lf.w))}};var wo=class extends $s{constructor(){super(),this.isLineGeometry=!0,this.type="LineGeometry"}setPositions(t){let e=t.length-3,n=new Float32Array(2*e);for(let s=0;s<e;s+=3)n[2*s]=t[s],n[2*s+1]=t[s+1],n[2*s+2]=t[s+2],n[2*s+3]=t[s+3],n[2*s+4]=t[s+4],n[2*s+5]=t[s+5];return super.setPositions(n),this}setColors(t){let e=t.length-3,n=new Float32Array(2*e);for(let s=0;s<e;s+=3)n[2*s]=t[s],n[2*s+1]=t[s+1],n[2*s+2]=t[s+2],n[2*s+3]=t[s+3],n[2*s+4]=t[s+4],n[2*s+5]=t[s+5];return super.setColors(n),this}setFromPoints(t){let e=t.length-1,n=new Float32Array(6*e);for(let s=0;s<e;s++)n[6*s]=t[s].x,n[6*s+1]=t[s].y,n[6*s+2]=t[s].z||0,n[6*s+3]=t[s+1].x,n[6*s+4]=t[s+1].y,n[6*s+5]=t[s+1].z||0;return super.setPositions(n),this}fromLine(t){let e=t.geometry;return this.setPositions(e.attributes.position.array),this}};var Rh=class extends bo{constructor(t=new wo,e=new As({color:Math.random()*16777215})){super(t,e),this.isLine2=!0,this.type="Line2"}};var F0=new O(0,1,0),O0=new O(0,0,1),Sr=class extends be{constructor(t){super(),this.material=new On({roughness:.5}),this.head=7*t,this.shaft=new xe(new ui(t,t,1,20).translate(0,.5,0),this.material),this.cone=new xe(new ba(2.6*t,this.head,28).translate(0,-this.head/2,0),this.material),this.add(this.shaft,this.cone)}point(t){let e=new O(...t),n=e.length();this.visible=n>1e-6,this.visible&&(this.quaternion.setFromUnitVectors(F0,e.divideScalar(n)),this.shaft.scale.y=Math.max(.001,n-this.head),this.cone.position.y=n,this.cone.scale.setScalar(Math.min(1,n/this.head)))}},Ks=class extends be{constructor(t,e=2.2){super(),this.count=t.length/3,this.whole=new fr(new qe().setAttribute("position",new Xe(new Float32Array(t),3)),new Fi({transparent:!0,opacity:.28})),this.past=new Rh(new wo().setPositions(t),new As({linewidth:e})),this.whole.frustumCulled=this.past.frustumCulled=!1,this.add(this.whole,this.past)}until(t){this.past.geometry.instanceCount=Math.max(0,Math.min(this.count-1,t))}paint(t){this.whole.material.color.set(t),this.past.material.color.set(t)}},Ph=class extends Ks{constructor(t){super(new Float32Array(3*t),2.6),this.whole.material.opacity=.55}move(t,e,n){let s=this.whole.geometry.attributes.position,r=this.past.geometry.attributes.instanceStart.data;s.array.set(t);for(let o=0;o<this.count-1;o+=1)for(let a=0;a<6;a+=1)r.array[6*o+a]=t[3*o+a];e<this.count-1&&r.array.set(n,6*e+3),s.needsUpdate=r.needsUpdate=!0,this.until(e+1)}},Ja=class extends bo{constructor(t,e,n=new Float32Array(6*t)){super(new $s().setPositions(n),new As({linewidth:e})),this.frustumCulled=!1}get points(){return this.geometry.attributes.instanceStart.data.array}moved(){this.geometry.attributes.instanceStart.data.needsUpdate=!0}},Ao=class extends be{constructor(t){super(),this.pins=[new O(1,0,0),new O(0,1,0),O0].map(e=>{let n=new be,s=new On({roughness:.5});return n.add(new xe(new ui(.011,.011,t,12).translate(0,t/2,0),s)),n.add(new xe(new di(.04,20,14).translate(0,t,0),s)),n.quaternion.setFromUnitVectors(F0,e),this.add(n),s})}paint(t){this.pins.forEach((e,n)=>e.color.set(t[n]))}},Eo=class extends be{constructor(t,e=0){super();let n=[],s=(r,o)=>n.push(r*Math.cos(o),r*Math.sin(o),0);for(let r of[.25,.5,.75,1])for(let o=0;o<96;o+=1)s(r*t,o*Math.PI/48),s(r*t,(o+1)*Math.PI/48);for(let r=0;r<12;r+=1)s(.25*t,r*Math.PI/6),s(t,r*Math.PI/6);this.lines=new pr(new qe().setAttribute("position",new Xe(new Float32Array(n),3)),new Fi({transparent:!0,opacity:.5})),this.face=new xe(new Ma(t,96),new mo({transparent:!0,opacity:e,depthWrite:!1,side:Mi})),this.face.visible=e>0,this.add(this.lines,this.face)}lay(t,e){this.position.set(...t),this.quaternion.setFromUnitVectors(O0,new O(...e))}paint(t,e){this.lines.material.color.set(t),this.face.material.color.set(e)}};var Lh=i=>i.free&&!i.rotors.length&&nr(i.omega)>0,Ih=class extends be{constructor(t){super(),this.run=t;let e=t.moments.map(r=>1/Math.sqrt(r));this.scaling=1/Math.max(...e),this.ellipsoid=new be,this.ellipsoid.add(this.surface(e.map(r=>r*this.scaling)));let n=[],s=[];for(let r=0;r<t.t.length;r+=1){let o=this.contactAt(Array.from(t.omega.subarray(3*r,3*r+3)));n.push(...o.map(a=>1.004*a)),s.push(...Yi(t.quaternion.subarray(4*r,4*r+4),o))}this.polhode=new Ks(n),this.herpolhode=new Ks(s),this.ellipsoid.add(this.polhode),this.plane=this.invariablePlane(s),this.add(this.ellipsoid,this.herpolhode,this.plane)}surface(t){let e=new be;this.skin=new On({roughness:.45,transparent:!0,opacity:.82}),this.rings=new Fi({transparent:!0,opacity:.45}),e.add(new xe(new di(1,96,64),this.skin).rotateX(Math.PI/2));for(let n=0;n<3;n+=1){let s=new Float32Array(384);for(let r=0;r<128;r+=1)s[3*r+(n+1)%3]=1.003*Math.cos(r*Math.PI/64),s[3*r+(n+2)%3]=1.003*Math.sin(r*Math.PI/64);e.add(new xa(new qe().setAttribute("position",new Xe(s,3)),this.rings))}return e.scale.set(...t),e.quaternion.copy(new Fn(...this.run.principal)),e}contactAt(t){let e=ru(t,ko(this.run,t));return t.map(n=>e>0?n*this.scaling/Math.sqrt(e):0)}invariablePlane(t){let{up:e}=this.run,n=ru(e,t),s=0;for(let o=0;o<t.length;o+=3)s=Math.max(s,Math.hypot(t[o]-n*e[0],t[o+1]-n*e[1],t[o+2]-n*e[2]));let r=new Eo(Math.max(1.15,1.12*s),.55);return r.lay(e.map(o=>1.004*n*o),e),this.distance=n,r}show(t){let e=Bo(this.run,t),n=Dn(this.run.t,t)[0];return this.ellipsoid.quaternion.set(...e),this.polhode.until(n),this.herpolhode.until(n),{omega:Yi(e,this.contactAt(er(this.run,this.run.omega,3,t))),momentum:this.run.up.map(r=>r*(this.distance+.45))}}paint(t){this.skin.color.set(t.skin),this.rings.color.set(t.ink),this.polhode.paint(t.trace),this.herpolhode.paint(t.trace),this.plane.paint(t.grid,t.plane)}};var B0=i=>String(i).replace(/./g,t=>"₀₁₂₃₄₅₆₇₈₉"[t]),ss={omega:{title:"Angular velocity",where:", body axes",unit:"rate",name:i=>`Ω${B0(i+1)}`,width:i=>i.omega?3:0},speeds:{title:"Rotor speeds",unit:"rate",name:i=>`w${B0(i+1)}`,width:i=>i.rotors.length},position:{title:"Position",unit:"length",name:i=>"xyz"[i],width:i=>i.position?3:0}},df=["energy","momentum","angular"],Dh=(i,t)=>Math.max(...i.map(ss[t].width)),k0=(i,t,e)=>t===1?i:Float32Array.from({length:i.length/t},(n,s)=>i[t*s+e]);function uf(i,t,e,n,s=1,r=0){return{run:i,label:e,colour:n,t:i.t,y:k0(i[t],s,r)}}var z0=(i,t,e)=>i.map((n,s)=>uf(n,t,i.length>1?n.label:"",()=>e.line(s)));function V0(i,t,e,n){let{name:s,width:r}=ss[t];return i.length===1?Array.from({length:r(i[0])},(o,a)=>uf(i[0],t,s(a),()=>n.line(a),r(i[0]),a)):i.map((o,a)=>r(o)>e&&uf(o,t,o.label,()=>n.line(a),r(o),e)).filter(Boolean)}function ff(i,t){let e=Array.from({length:ss[t].width(i)},(n,s)=>{let r=k0(i[t],ss[t].width(i),s);return r.reduce((o,a)=>Math.max(o,a))-r.reduce((o,a)=>Math.min(o,a))});return Math.max(0,e.indexOf(Math.max(...e)))}var G0=i=>i.replace(/\(([^()]*)\)(·up)?/,(t,e,n)=>`|${n?t:e}|`),H0=({t:i,y:t},e)=>t[Dn(i,e)[0]];function W0(i,t){let e=i.map(n=>n[t].reduce((s,r)=>Math.max(s,Math.abs(r)),0)).filter(n=>n>0);return e.length>1&&Math.max(...e)>30*Math.min(...e)}var Nh=class{constructor(t){this.element=pt("select","whom"),this.element.title="What the camera follows (F)",this.element.setAttribute("aria-label","What the camera follows"),this.element.addEventListener("change",()=>t(this.value))}offer(t){let e=this.element.value,{bodies:n,names:s}=t.find(r=>r.bodies)??{bodies:0,names:[]};this.element.hidden=!n,this.choices=["all","centre",...s.map((r,o)=>o)],this.element.replaceChildren(...this.choices.map(r=>{let o=r==="all"?"All bodies":r==="centre"?"Centre of mass":`Body ${s[r]}`;return Object.assign(pt("option","",o),{value:String(r)})})),this.element.value=this.choices.map(String).includes(e)?e:"all"}get value(){let{value:t}=this.element;return t==="all"||t==="centre"?t:Number(t)}set value(t){this.element.value=String(t)}next(){return this.choices[(this.choices.indexOf(this.value)+1)%this.choices.length]}};var To=class{constructor(t){this.run=t,this.scene=new ua,this.sky=new Pa(16777215,13223357,2.1),this.key=new Da(16777215,1.5),this.scene.add(this.sky,this.key)}light(t){let e=new O().setFromMatrixColumn(t.matrixWorld,0);this.key.position.copy(t.position).addScaledVector(t.up,6).addScaledVector(e,-4),this.sky.position.copy(t.up)}dispose(){this.scene.traverse(t=>{t.geometry?.dispose();for(let e of[t.material??[]].flat())e.dispose()})}};function Uh(i,t){i.traverse(e=>{for(let n of[e.material??[]].flat())t[n.name]&&(n.color=new ce(t[n.name]))})}var $a=new O;function wi(i,t,e,n,s,r){let o=2*Math.PI*s/4,a=Math.max(r-2*s,0),l=Math.PI/4;$a.copy(t),$a[n]=0,$a.normalize();let c=.5*o/(o+a),h=1-$a.angleTo(i)/l;return Math.sign($a[e])===1?h*c:a/(o+a)+c+c*(1-h)}var Fh=class i extends Gs{constructor(t=1,e=1,n=1,s=2,r=.1){let o=s*2+1;if(r=Math.min(t/2,e/2,n/2,r),super(1,1,1,o,o,o),this.type="RoundedBoxGeometry",this.parameters={width:t,height:e,depth:n,segments:s,radius:r},o===1)return;let a=this.toNonIndexed();this.index=null,this.attributes.position=a.attributes.position,this.attributes.normal=a.attributes.normal,this.attributes.uv=a.attributes.uv;let l=new O,c=new O,h=new O(t,e,n).divideScalar(2).subScalar(r),d=this.attributes.position.array,u=this.attributes.normal.array,f=this.attributes.uv.array,g=d.length/6,y=new O,m=.5/o;for(let p=0,v=0;p<d.length;p+=3,v+=2)switch(l.fromArray(d,p),c.copy(l),c.x-=Math.sign(c.x)*m,c.y-=Math.sign(c.y)*m,c.z-=Math.sign(c.z)*m,c.normalize(),d[p+0]=h.x*Math.sign(l.x)+c.x*r,d[p+1]=h.y*Math.sign(l.y)+c.y*r,d[p+2]=h.z*Math.sign(l.z)+c.z*r,u[p+0]=c.x,u[p+1]=c.y,u[p+2]=c.z,Math.floor(p/g)){case 0:y.set(1,0,0),f[v+0]=wi(y,c,"z","y",r,n),f[v+1]=1-wi(y,c,"y","z",r,e);break;case 1:y.set(-1,0,0),f[v+0]=1-wi(y,c,"z","y",r,n),f[v+1]=1-wi(y,c,"y","z",r,e);break;case 2:y.set(0,1,0),f[v+0]=1-wi(y,c,"x","z",r,t),f[v+1]=wi(y,c,"z","x",r,n);break;case 3:y.set(0,-1,0),f[v+0]=1-wi(y,c,"x","z",r,t),f[v+1]=1-wi(y,c,"z","x",r,n);break;case 4:y.set(0,0,1),f[v+0]=1-wi(y,c,"x","y",r,t),f[v+1]=1-wi(y,c,"y","x",r,e);break;case 5:y.set(0,0,-1),f[v+0]=wi(y,c,"x","y",r,t),f[v+1]=1-wi(y,c,"y","x",r,e);break}}static fromJSON(t){return new i(t.width,t.height,t.depth,t.segments,t.radius)}};var p1=new O(0,0,1),Ka=.07,pf=.04,X0=.026,m1=Math.PI/4,g1=.16,_1=.5,x1=9;function q0(i,t){let e=i.map(({speeds:n=[]})=>n.reduce((s,r)=>Math.max(s,Math.abs(r)),0));return Math.max(1,t*Math.max(...e)/x1)}var Oh=class extends be{constructor(t,e){super(),this.run=t,this.turned=v1(t);let n=t.arm?new Cn().setFromPoints(e).getCenter(new O):new O,s=t.rotors.map(({axis:r})=>new O(...r));this.wheels=t.rotors.map(({axis:r,inertia:o},a)=>{let l=new be,c=s.slice(0,a).filter(y=>y.dot(s[a])>.99).length,h=o/w1(t.inertia,r),[d,u]=b1(e,n,s[a]),f=Math.min(_1,Math.max(g1,.8*u*h**.2)),g=S1(f);return g.position.z=d+pf+c*(Ka+pf),l.position.copy(n),l.quaternion.setFromUnitVectors(p1,s[a]),l.add(g,M1(g.position.z+Ka+pf)),this.add(l),g})}show(t,e){this.angles=this.wheels.map((n,s)=>y1(this.run,this.turned,s,t)/e),this.wheels.forEach((n,s)=>n.rotation.z=this.angles[s]%(2*Math.PI))}paint(t){this.wheels.forEach(({material:e},n)=>e.color.set(t[n%t.length]))}};function v1({t:i,speeds:t,rotors:e}){let n=e.length,s=new Float64Array(n*i.length);for(let r=n;r<s.length;r+=1){let o=Math.floor(r/n);s[r]=s[r-n]+(i[o]-i[o-1])*.5*(t[r-n]+t[r])}return s}function y1({t:i,speeds:t,rotors:e},n,s,r){let[o,a]=Dn(i,r),l=e.length*o+s;if(a===0)return n[l];let[c,h]=[t[l],t[l+e.length]];return n[l]+(i[o+1]-i[o])*a*(c+.5*a*(h-c))}function S1(i){let t=(...s)=>new ui(...s).rotateX(Math.PI/2).translate(0,0,Ka/2),e=new xe(t(i,i,Ka,64),new On({roughness:.5})),n=Object.assign(new On({roughness:.5}),{name:"pivot"});return e.add(new xe(t(1.01*i,1.01*i,1.06*Ka,16,1,!1,0,m1),n)),e}function M1(i){let t=Object.assign(new On({roughness:.5}),{name:"pivot"});return new xe(new ui(X0,X0,i,20).rotateX(Math.PI/2).translate(0,0,i/2),t)}function b1(i,t,e){let n=new O,[s,r]=[0,0];for(let o of i){let a=n.subVectors(o,t).dot(e);s=Math.max(s,a),r=Math.max(r,Math.sqrt(Math.max(0,n.lengthSq()-a*a)))}return[s,r]}var w1=(i,t)=>t.reduce((e,n,s)=>e+n*(i[3*s]*t[0]+i[3*s+1]*t[1]+i[3*s+2]*t[2]),0);var A1=new O(0,0,1),Co=i=>Object.assign(new On({roughness:.62,metalness:0}),{name:i});function Z0(i){let t=new be,{shape:e}=i,n=gf(e);return t.add(n),i.arm&&e.kind!=="top"&&E1(n,i.arm),t.add(t.wheels=new Oh(i,i.rotors.length?J0(n):[])),i.arm&&t.add(new xe(new di(.045,24,16),Co("pivot"))),t}function gf(i,t=1){let e=$0[i.kind](i,n=>Math.max(6,Math.round(t*n)));return i.turn&&e.quaternion.fromArray(i.turn),e}function E1(i,t){let e=new O(...t),n=J0(i).reduce((s,r)=>Math.min(s,r.dot(e)),0);i.position.copy(e).multiplyScalar(-n)}function J0(i){let t=[];return i.updateMatrixWorld(!0),i.traverse(e=>{let n=e.geometry?.attributes.position;for(let s=0;n&&s<n.count;s+=1)t.push(new O().fromBufferAttribute(n,s).applyMatrix4(e.matrixWorld))}),t}var $0={box({size:i}){let t=Math.max(...i),e=i.map(o=>Math.max(.02,2*o/t)*.86),n=e.indexOf(Math.min(...e)),s=Math.min(.05,.3*e[n]),r=Array.from({length:6},(o,a)=>Co(a>>1===n?a&1?"dark":"light":"side"));return new xe(new Fh(...e,4,s),r)},ellipsoid({semi_axes:i},t){let e=Math.max(...i),n=new di(1,t(64),t(32));return n.rotateX(Math.PI/2),n.scale(...i.map(s=>Math.max(.02,s/e))),mf(n,Y0)},sphere:(i,t)=>$0.ellipsoid({semi_axes:[1,1,1]},t),cylinder({radius:i,height:t},e){let n=Math.max(i,t/2),s=new ui(i/n,i/n,Math.max(.03,t/n),e(64),2);return s.rotateX(Math.PI/2),mf(s,Y0)},points({masses:i,positions:t,ball:e=.16,toned:n=!1},s){let r=new be,o=Math.max(...t.map(l=>Math.hypot(...l))),a=Math.cbrt(Math.max(...i));return t.forEach((l,c)=>{let h=new O(...l).divideScalar(o),d=new di(e*Math.cbrt(i[c])/a,s(32),s(20)),u=n?i[c]===Math.max(...i):c%2;r.add(new xe(d,Co(u?"dark":"light")).translateX(h.x).translateY(h.y).translateZ(h.z)),h.length()>1e-6&&r.add(T1(h))}),r},top({arm:i}){let t=[[0,0],[.025,.02],[.06,.12],[.3,.42],[.56,.62],[.62,.7],[.6,.78],[.46,.85],[.16,.9],[.06,.95],[.045,1.02],[.045,1.22],[.03,1.25],[0,1.26]].map(([r,o])=>new Kt(r,o)),e=new Aa(new wa(t).getPoints(90),96);e.rotateX(Math.PI/2);let n=mf(e,r=>Math.floor(4*Math.atan2(r.y,r.x)/Math.PI+8)%2===0);n.quaternion.copy(new Fn().setFromUnitVectors(A1,new O(...i)));let s=new be;return s.add(n),s},mesh({vertices:i,faces:t}){let e=new qe;e.setAttribute("position",new Xe(i.slice(),3)),e.setIndex(new Xe(t.slice(),1));let n=e.toNonIndexed();n.computeBoundingSphere();let s=n.boundingSphere.center.length()+n.boundingSphere.radius;return n.scale(1.1/s,1.1/s,1.1/s),n.computeVertexNormals(),new xe(n,Co("light"))}},Y0=i=>i.x>0!=i.y>0!=i.z>0;function mf(i,t){let e=i.toNonIndexed(),n=e.attributes.position,s=e.attributes.normal,r=[[[],[]],[[],[]]],o=new O,a=new O;for(let c=0;c<n.count;c+=3){o.set(0,0,0);for(let u=0;u<3;u+=1)o.add(a.fromBufferAttribute(n,c+u));let[h,d]=r[t(o)?0:1];for(let u=3*c;u<3*c+9;u+=1)h.push(n.array[u]),d.push(s.array[u])}let l=new be;return r.forEach(([c,h],d)=>{let u=new qe;u.setAttribute("position",new Xe(new Float32Array(c),3)),u.setAttribute("normal",new Xe(new Float32Array(h),3)),l.add(new xe(u,Co(d?"dark":"light")))}),l}function T1(i){let t=new ui(.02,.02,i.length(),12);t.translate(0,i.length()/2,0);let e=new xe(t,Co("side"));return e.quaternion.setFromUnitVectors(new O(0,1,0),i.clone().normalize()),e}var C1=1.45,R1=.06,P1=.4,ja=12,I1=7,L1=40,D1=1.8,N1=300,U1=1.7,Bh=class extends To{constructor(t){super(t);let e=t.bodies;this.sizes=t.which.map(n=>t.kinds[n].size),this.largest=Math.max(...this.sizes),this.frames=new Map,this.groups=F1(t),this.moving=new be,this.middle=z1(t.all.position),this.nearest=K0(t,0),this.paths=t.box?null:new xf(t,this.middle),this.links=t.links.length?new Ja(3*t.links.length,3):null,this.box=t.box?k1(t.box):null,this.paths&&this.moving.add(this.paths),this.box&&this.moving.add(this.box),this.arrows=e<=ja&&t.all.omega?t.which.map(()=>new Sr(.03)):[],this.axes=e<=ja?t.which.map(()=>new Ao(1.3)):[],this.scene.add(this.moving,...this.arrows,...this.axes,...this.groups.flatMap(({parts:n})=>n.map(({mesh:s})=>s))),this.links&&this.scene.add(this.links),this.isFar=!0,this.azimuth=V1(t),this.placed={places:new Float64Array(3*e),turns:new Float64Array(4*e)}}scales(t){if(!this.frames.has(t)){let e=this.reach(t)||this.largest,n=C1/e,s=R1/(n*this.largest),r=P1*this.nearest/this.largest;this.frames.set(t,{unit:n,enlarged:Math.max(1,Math.min(s,Number.isFinite(r)?r:s))})}return this.frames.get(t)}reach(t){let{run:e}=this,n=e.bodies,s=e.all.position;if(typeof t=="number"){let o=K0(e,Math.floor(e.t.length/2),t);return Math.max(1.3*this.sizes[t],Number.isFinite(o)?D1*o:0)}if(e.box)return .5*Math.hypot(...e.box);let r=0;for(let o=0;o<e.t.length;o+=1){let a=t==="centre"?_f(e,o):this.middle;for(let l=0;l<n;l+=1){let c=3*(n*o+l);r=Math.max(r,Math.hypot(s[c]-a[0],s[c+1]-a[1],s[c+2]-a[2])+this.sizes[l])}}return r}target(t,[e,n]){let{run:s}=this;if(typeof t=="number")return iu(s,t,e,n);if(s.box)return[0,0,0];if(t!=="centre")return this.middle;let r=_f(s,e);if(!n)return r;let o=_f(s,e+1);return r.map((a,l)=>a+n*(o[l]-a))}wrap(t){let{box:e}=this.run;return e?t.map((n,s)=>n-e[s]*Math.round(n/e[s])):t}show(t,{who:e="all",trace:n,arrows:s,axes:r}){let{run:o}=this,a=Dn(o.t,t),{unit:l,enlarged:c}=this.scales(e),h=this.target(e,a),{places:d,turns:u}=this.placed;for(let f=0;f<o.bodies;f+=1)d.set(this.wrap(iu(o,f,...a).map((g,y)=>g-h[y])).map(g=>g*l),3*f),u.set(Xf(o,f,...a),4*f);for(let f of this.groups)f.place(d,u,l*c);this.moving.position.set(...h.map((f,g)=>o.box?0:(this.middle[g]-f)*l)),this.moving.scale.setScalar(l),this.paths&&(this.paths.visible=!!n,this.paths.until(a[0])),this.links&&this.tie(l,c);for(let f=0;f<this.axes.length;f+=1)this.adorn(f,a,l*c*this.sizes[f],s,r);this.shown={who:e,unit:l,enlarged:c}}adorn(t,e,n,s,r){let{places:o,turns:a}=this.placed,l=Array.from(a.subarray(4*t,4*t+4));for(let y of[this.axes[t],this.arrows[t]].filter(Boolean))y.position.fromArray(o,3*t),y.scale.setScalar(n);if(this.axes[t].quaternion.set(...l),this.axes[t].visible=!!r,!this.arrows[t])return;let{omega:c}=this.run.all,[h,d]=e,u=3*(this.run.bodies*h+t),f=d?u+3*this.run.bodies:u,g=[0,1,2].map(y=>c[u+y]+d*(c[f+y]-c[u+y]));this.arrows[t].point(Yi(l,g).map(y=>y*U1/(this.run.fastest||1))),this.arrows[t].visible&&=!!s}tie(t,e){let{places:n,turns:s}=this.placed,r=this.links.points,o=(a,l)=>{let c=s.subarray(4*a,4*a+4),h=Yi(c,l).map(d=>d*t*e);return[0,1,2].map(d=>n[3*a+d]+h[d])};this.run.links.forEach(([a,l],c)=>{let h=this.run.ends[c],d=[o(a,[0,0,0]),o(a,h.slice(0,3)),o(l,h.slice(3)),o(l,[0,0,0])],u=this.run.box&&Math.hypot(...d[0].map((f,g)=>f-d[3][g]))>.5*t*Math.min(...this.run.box);for(let f=0;f<3;f+=1)r.set([...d[f],...d[u?f:f+1]],18*c+6*f)}),this.links.moved()}paint(t){this.groups.forEach(e=>e.paint(t)),this.paths?.paint(t),this.links?.material.color.set(t.pivot),this.box?.material.color.set(t.grid);for(let e of this.arrows)e.material.color.set(t.omega);for(let e of this.axes)e.paint(t.axes)}state(){return{...this.shown,places:Array.from(this.placed.places),turns:Array.from(this.placed.turns)}}},kh=class{constructor(t,e,n,s){Object.assign(this,{members:n,tint:s,size:t.kinds[e].size,plain:t.kinds[e].shape.kind==="mesh"});let r=gf(t.kinds[e].shape,t.bodies>L1?.35:1);r.updateMatrixWorld(!0),this.parts=[],r.traverse(o=>{if(!o.isMesh)return;let a=new _a(o.geometry,o.material,n.length);a.frustumCulled=!1,this.parts.push({mesh:a,base:o.matrixWorld.clone()})})}place(t,e,n){let s=new ye,[r,o,a]=[new O,new Fn,new O().setScalar(n*this.size)];this.members.forEach((l,c)=>{s.compose(r.fromArray(t,3*l),o.fromArray(e,4*l),a);for(let{mesh:h,base:d}of this.parts)h.setMatrixAt(c,s.clone().multiply(d))});for(let{mesh:l}of this.parts)l.instanceMatrix.needsUpdate=!0}paint(t){let e=this.tint===null?{}:{[this.plain?"light":"dark"]:t.lines[this.tint%t.lines.length]};for(let{mesh:n}of this.parts)Uh(n,{...t,...e})}};function F1(i){return i.bodies<=I1?i.which.map((t,e)=>new kh(i,t,[e],e)):i.kinds.map((t,e)=>{let n=i.which.flatMap((s,r)=>s===e?[r]:[]);return new kh(i,e,n,i.kinds.length>1?e:null)})}var O1=(i,t)=>i.bodies<=ja?t:i.which[t],xf=class extends be{constructor(t,e){super();let{bodies:n,t:s}=t,r=t.all.position;this.run=t,this.points=new Float32Array(6*n*(s.length-1));for(let o=0,a=0;o<s.length-1;o+=1)for(let l=0;l<n;l+=1)for(let c of[3*(n*o+l),3*(n*(o+1)+l)])for(let h=0;h<3;h+=1)this.points[a++]=r[c+h]-e[h];this.whole=vf(this.points,{transparent:!0,opacity:n<=ja?.35:.12,vertexColors:!0}),this.add(this.whole),n<=ja?this.add(this.past=new Ja(this.points.length/6,2.2,this.points)):this.add(this.past=vf(this.points,{transparent:!0,opacity:.4,vertexColors:!0})),this.whole.frustumCulled=this.past.frustumCulled=!1}until(t){let{bodies:e}=this.run;this.past.isLineSegments2?this.past.geometry.instanceCount=e*t:this.past.geometry.setDrawRange(0,2*e*t)}paint(t){let{bodies:e}=this.run,n=Array.from({length:e},(r,o)=>B1(t.lines[O1(this.run,o)%t.lines.length])),s=new Float32Array(this.points.length);for(let r=0;r<s.length;r+=6)for(let o=0;o<6;o+=1)s[r+o]=n[r/6%e][o%3];for(let r of[this.whole,this.past])r.isLineSegments2?(r.geometry.setColors(s),r.material.vertexColors=!0,r.material.needsUpdate=!0):r.geometry.setAttribute("color",new Xe(s,3))}},B1=i=>[1,3,5].map(t=>{let e=parseInt(i.slice(t,t+2),16)/255;return e<=.04045?e/12.92:((e+.055)/1.055)**2.4}),vf=(i,t)=>new pr(new qe().setAttribute("position",new Xe(i,3)),new Fi(t));function k1(i){let t=[];for(let e=0;e<3;e+=1)for(let n of[-.5,.5])for(let s of[-.5,.5])for(let r of[-.5,.5]){let o=[0,0,0];[o[e],o[(e+1)%3],o[(e+2)%3]]=[r,n,s],t.push(...o.map((a,l)=>a*i[l]))}return vf(new Float32Array(t),{})}function z1(i){let t=[1/0,1/0,1/0],e=t.map(n=>-n);for(let n=0;n<i.length;n+=1)t[n%3]=Math.min(t[n%3],i[n]),e[n%3]=Math.max(e[n%3],i[n]);return t.map((n,s)=>.5*(n+e[s]))}function _f(i,t){let{bodies:e,masses:n}=i,s=i.all.position,r=[0,0,0],o=0;for(let a=0;a<e;a+=1){o+=n[a];for(let l=0;l<3;l+=1)r[l]+=n[a]*s[3*(e*t+a)+l]}return r.map(a=>a/o)}function V1(i){let t=i.all.position.subarray(0,3*i.bodies),e=[0,1].map(a=>t.reduce((l,c,h)=>l+(h%3===a?c:0),0)/i.bodies),[n,s,r]=[0,0,0];for(let a=0;a<t.length;a+=3){let[l,c]=[t[a]-e[0],t[a+1]-e[1]];[n,s,r]=[n+l*l,s+l*c,r+c*c]}let o=Math.hypot(n-r,2*s);return i.bodies>2&&o>.8*(n+r)?Math.atan2(2*s,n-r)/2-Math.PI/2+.3:void 0}function K0(i,t,e=null){let n=Math.min(i.bodies,N1),s=i.all.position,r=a=>s.subarray(3*(i.bodies*t+a),3*(i.bodies*t+a)+3),o=1/0;for(let a=0;a<n;a+=1)for(let l=e===null?a+1:e;l<(e===null?n:e+1);l+=1){if(a===l)continue;let[c,h]=[r(a),r(l)];o=Math.min(o,Math.hypot(c[0]-h[0],c[1]-h[1],c[2]-h[2]))}return o}var Sf=[2,1.5,1,.75,.5],j0=Sf.indexOf(1),G1=3,H1=21,yf=15,W1=120,zh=class{constructor(){this.level=0,this.best=0,this.settled=!1,this.start()}start(){this.last=null,this.gaps=[],this.calm=0}ratio(t){let e=Math.min(2,window.devicePixelRatio||1);return Math.min(G1,e*Sf[t?0:this.level])}frame(t){if(t===null)return this.start();if(this.last!==null&&this.gaps.push(t-this.last),this.last=t,this.gaps.length<yf||this.settled)return;let e=this.gaps.sort((n,s)=>n-s)[yf>>1];return this.gaps=[],e>H1?this.lower(e):this.rise()}lower(t){this.calm=0,this.first??=t,this.level<Sf.length-1?this.level+=1:t>.8*this.first&&([this.level,this.settled]=[j0,!0]),this.best=Math.max(this.best,Math.min(this.level,j0))}rise(){this.calm+=yf,!(this.calm<W1||this.level<=this.best)&&(this.level-=1,this.calm=0)}};var Q0=1.45,X1=.12,q1=30,Vh=class extends be{constructor(t){super(),this.run=t,this.middle=[0,1,2].map(e=>{let n=t.position.filter((s,r)=>r%3===e);return(n.reduce((s,r)=>Math.min(s,r))+n.reduce((s,r)=>Math.max(s,r)))/2}),this.reach=nr(t.position.map((e,n)=>e-this.middle[n%3]))||t.extent,this.isLong=this.reach>q1*t.extent,this.points=new Float32Array(t.position.length),this.path=new Ph(t.t.length),this.origin=new xe(new di(.035,20,14),new On({roughness:.6})),this.add(this.path,this.origin)}scales(t){let e=t?1/this.run.extent:Q0/this.reach,n=t?1:Math.max(X1,e*this.run.extent);return{unit:e,body:n,enlarged:n/(e*this.run.extent)}}show(t,e){let{t:n,position:s}=this.run,{unit:r,body:o}=this.scales(e),a=er(this.run,s,3,t),l=e?a:this.middle,c=h=>h.map((d,u)=>(d-l[u])*r);for(let h=0;h<s.length;h+=1)this.points[h]=(s[h]-l[h%3])*r;return this.path.move(this.points,Dn(n,t)[0],c(a)),this.origin.position.set(...c([0,0,0])),this.origin.visible=!e&&this.origin.position.length()<1.1*Q0,{place:c(a),scale:o}}paint(t){this.path.paint(t.dark),this.origin.material.color.set(t.pivot)}};var t_={omega:1.4,momentum:1.65},Gh=class extends To{constructor(t){super(t),this.body=Z0(t),this.axes=new Ao(t.arm?1:1.22),this.body.add(this.axes),this.omega=new Sr(.024),this.momentum=new Sr(.015),this.floor=new Eo(t.arm?1.25:1.7),this.floor.lay(t.arm?[0,0,0]:t.up.map(n=>-1.5*n),t.up);let e=this.tip();this.trace=new Ks(e),this.deep=Y1(e,t.up)<-.1,this.poinsot=Lh(t)?new Ih(t):null,this.moving=new be,this.moving.add(this.body,this.omega,this.momentum,this.trace),this.flight=t.position?new Vh(t):null,this.isFar=!!this.flight,this.scene.add(this.moving,this.floor),this.flight&&this.scene.add(this.flight),this.poinsot&&this.scene.add(this.poinsot),this.fastest=nr(t.omega)||1,this.heaviest=this.strongest()||1}tip(){let{arm:t,quaternion:e}=this.run,n=[],s=t?t.map(r=>1.26*r):[0,0,1.22];for(let r=0;r<this.run.t.length;r+=1)n.push(...Yi(e.subarray(4*r,4*r+4),s));return n}strongest(){let{t,omega:e,speeds:n,rotors:s}=this.run,r=(a,l,c)=>a?.subarray(l*c,l*(c+1)),o=0;for(let a=0;a<t.length;a+=1)o=Math.max(o,Math.hypot(...ko(this.run,r(e,3,a),r(n,s.length,a))));return o}show(t,e){let n=Bo(this.run,t),s=e.poinsot&&this.poinsot;this.body.visible=!s,this.floor.visible=!s&&!this.flight,this.flight&&this.fly(t,e.follow,!!s),this.trace.visible=e.trace&&!s,this.axes.visible=e.axes,this.poinsot&&(this.poinsot.visible=!!s);let r=er(this.run,this.run.omega,3,t),o={omega:Yi(n,r).map(a=>a*t_.omega/this.fastest),momentum:Yi(n,ko(this.run,r,Yf(this.run,t))).map(a=>a*t_.momentum/this.heaviest)};s&&(o=this.poinsot.show(t)),this.body.quaternion.set(...n),this.body.wheels.show(t,e.slowness),this.trace.until(Dn(this.run.t,t)[0]);for(let a of["omega","momentum"])this[a].point(o[a]),this[a].visible&&=e.arrows}fly(t,e,n){let{place:s,scale:r}=n?{place:[0,0,0],scale:1}:this.flight.show(t,e);this.flight.visible=!n,this.moving.position.set(...s),this.moving.scale.setScalar(r)}paint(t){Uh(this.body,t),this.axes.paint(t.axes),this.body.wheels.paint(t.lines),this.omega.material.color.set(t.omega),this.momentum.material.color.set(t.momentum),this.floor.paint(t.grid,t.grid),this.trace.paint(t.trace),this.poinsot?.paint(t),this.flight?.paint(t)}state(t){return{quaternion:Bo(this.run,t),shown:this.body.quaternion.toArray(),place:this.moving.position.toArray(),scale:this.moving.scale.x,rotors:this.body.wheels.angles}}};function Y1(i,t){let e=1/0;for(let n=0;n<i.length;n+=3)e=Math.min(e,i[n]*t[0]+i[n+1]*t[1]+i[n+2]*t[2]);return e}var e_=26,Qa={azimuth:.6,elevation:.3,zoom:1},Hh=class{constructor(t,e,n){this.canvas=t,this.cells=e,this.views=[],this.camera=new qn(e_,1,.1,100),this.home=Qa,this.orbit={...Qa},this.up=new O(0,0,1),this.target=new O,this.sharpness=new zh,this.held=new Map,this.room=1,this.renderer=this.start(),this.listen(e,n)}start(){try{let t=new bh({canvas:this.canvas,antialias:!1,alpha:!0,preserveDrawingBuffer:!0});return t.setClearColor(0,0),t.setScissorTest(!0),t}catch{return this.canvas.replaceWith(pt("p","no-picture","This browser has no WebGL, so there is no 3D picture; the plots work without it.")),null}}setRuns(t){this.views.forEach(e=>e.dispose()),this.views=t.map(e=>e.bodies?new Bh(e):new Gh(e))}paint(t){this.views.forEach((e,n)=>e.paint(t(n)))}aim(t,e){this.up.set(...(t.bodies||t.position)&&!e?[0,0,1]:t.up).multiplyScalar(e?-1:1).normalize();let n=t.arm&&!this.views.some(r=>r.deep);this.target.set(...t.up).multiplyScalar(e?.2:n?.55:0),this.room=e?1.4:n?1.3:1.75;let s=this.views[0].azimuth??Qa.azimuth;this.orbit=this.home.azimuth===s?this.orbit:{...Qa,azimuth:s},this.home={...Qa,azimuth:s}}render(t,e,n=!0){let s=this.sharpness.ratio(n&&!this.held.size),r=this.cells.getBoundingClientRect();!this.renderer||!r.width||!r.height||((this.width!==r.width||this.height!==r.height||this.ratio!==s)&&([this.width,this.height,this.ratio]=[r.width,r.height,s],this.renderer.setPixelRatio(s),this.renderer.setSize(r.width,r.height,!1)),this.renderer.setScissor(0,0,r.width,r.height),this.renderer.clear(),this.views.forEach((o,a)=>{let l=this.cells.children[a].getBoundingClientRect(),c=this.cells.children[a].firstElementChild,h=l.height-(c?c.offsetTop+c.offsetHeight:0),d=[l.left-r.left,r.bottom-l.bottom,l.width,h];this.renderer.setViewport(...d),this.renderer.setScissor(...d),this.look(l.width/h),o.show(t,e),o.light(this.camera),this.renderer.render(o.scene,this.camera)}))}look(t){let{azimuth:e,elevation:n,zoom:s}=this.orbit,{camera:r,up:o}=this,a=new O(1,0,0);Math.abs(o.x)>.9&&a.set(0,1,0),a.addScaledVector(o,-a.dot(o)).normalize();let l=new O().crossVectors(o,a),c=s*this.room/Math.sin(e_*Math.PI/360)/Math.min(1,t);r.position.copy(this.target).addScaledVector(a,c*Math.cos(n)*Math.cos(e)).addScaledVector(l,c*Math.cos(n)*Math.sin(e)).addScaledVector(o,c*Math.sin(n)),r.up.copy(o),r.aspect=t,r.far=this.views.some(h=>h.isFar)?1e5:4*c+10,r.updateProjectionMatrix(),r.lookAt(this.target),r.updateMatrixWorld()}turn(t,e){this.orbit.azimuth-=t,this.orbit.elevation=Math.max(-1.5,Math.min(1.5,this.orbit.elevation+e))}zoom(t){let e=this.views.some(n=>n.run.bodies)?.03:.35;this.orbit.zoom=Math.max(e,Math.min(4,this.orbit.zoom*t))}listen(t,e){let{held:n}=this,s=()=>{let[r,o]=[...n.values()];return Math.hypot(r.x-o.x,r.y-o.y)};t.addEventListener("pointerdown",r=>{t.setPointerCapture(r.pointerId),n.set(r.pointerId,{x:r.clientX,y:r.clientY})}),t.addEventListener("pointermove",r=>{let o=n.get(r.pointerId);if(!o)return;let a=n.size===2?s():0,[l,c]=[r.clientX-o.x,r.clientY-o.y];n.set(r.pointerId,{x:r.clientX,y:r.clientY}),n.size===1?this.turn(l*.008,c*.008):n.size===2&&this.zoom(a/Math.max(1,s())),e()});for(let r of["pointerup","pointercancel"])t.addEventListener(r,o=>n.delete(o.pointerId)&&e());t.addEventListener("wheel",r=>{t.closest(".compact")&&!r.ctrlKey||(r.preventDefault(),this.zoom(Math.exp(r.deltaY*.001)),e())},{passive:!1}),t.addEventListener("dblclick",()=>{this.orbit={...this.home},e()})}dispose(){this.views.forEach(t=>t.dispose()),this.renderer?.dispose()}};var Z1={poinsot:["Poinsot","The inertia ellipsoid rolling on the invariable plane (P)"],arrows:["Arrows","Angular velocity and momentum (A)"],trace:["Trace","Path of the third body axis, or of the tip of a top (R)"],axes:["Axes","Body axes (B)"],follow:["Follow","The camera follows the body, or shows its whole path in space (F)"]};function Wh(i,t,e={}){return new Mf(i,t,e)}var J1=i=>i.every(t=>t===i[0])?i[0]:"",Mf=class{constructor(t,e,n){this.theme=new Ns(document.documentElement),this.options={poinsot:!!n.poinsot,arrows:!0,trace:!1,axes:!0},this.clock=new Al(()=>this.redraw()),this.build(t,n),this.update(e,{fresh:!0}),this.stopKeys=Cm(this),this.sizes=new ResizeObserver(()=>this.redraw()),this.sizes.observe(this.cells);let s=window.matchMedia("(prefers-reduced-motion: reduce)").matches;(n.autoplay??!s)&&this.clock.play()}build(t,{title:e="",subtitle:n="",compact:s=!1}){this.root=pt("div",s?"polhode compact":"polhode");let r=pt("header","head"),o=pt("div","tools");this.title=pt("h1","",e),this.subtitle=pt("p","subtitle",n),this.zoomButton=$n("tool","zoom",()=>this.zoom(),"Plots around the current time (Z)"),this.logButton=$n("tool","log",()=>this.log(),"Logarithmic error plots (L)"),o.append(this.zoomButton,this.logButton,$n("tool","◐",()=>this.toggleTheme(),"Light or dark (T)"),$n("tool","?",()=>this.help(),"Keys (?)")),r.append(this.title,o,this.subtitle),this.work=pt("main","work"),this.work.append(this.buildStage(),this.plotsPlace=pt("div","plots")),this.transport=new yl(this),this.about=pt("footer","about"),this.dialog=Tm(),this.root.append(r,this.work,this.transport.element,this.about,this.dialog),t.replaceChildren(this.root),this.compact=s,this.plots={},this.stage=new Hh(this.canvas,this.cells,()=>this.redraw())}buildStage(){let t=pt("div","stage");return this.canvas=pt("canvas"),this.cells=pt("div","cells"),this.key=pt("div","key"),this.key.append(pt("span","key-omega","ω angular velocity"),pt("span","key-momentum","L angular momentum")),this.turned=pt("em","","Here L points down, so that the ellipsoid rolls on the plane"),this.scale=pt("em"),this.key.append(this.turned,this.scale),this.switches=new Sl(Z1,e=>this.switch(e)),this.whom=new Nh(e=>this.look(e)),this.switches.element.prepend(this.whom.element),t.append(this.canvas,this.cells,this.key,this.switches.element),t}update(t,{fresh:e=!1,title:n,subtitle:s,poinsot:r=this.options.poinsot}={}){this.runs=t.map(Wf),n!==void 0&&(this.title.textContent=n),s!==void 0&&(this.subtitle.textContent=s),this.rolls=this.runs.every(Lh);let[{arm:o,bodies:a=0}]=this.runs;e&&Object.assign(this.options,{trace:!!o||a>0&&a<=20,axes:!o&&!a}),this.whom.offer(this.runs),this.options.who=this.whom.value,this.options.poinsot=r&&this.rolls,this.work.classList.toggle("many",this.runs.length>1),this.work.style.setProperty("--runs",this.runs.length),this.cells.replaceChildren(...this.runs.map((u,f)=>this.cell(u,f))),this.stage.setRuns(this.runs);let l=this.stage.views.map(u=>u.flight).filter(Boolean);e&&(this.options.follow=!l.some(u=>u.isLong)),this.switches.buttons.follow.hidden=!l.length,this.root.classList.toggle("system",a>0),this.root.classList.toggle("crowd",a>0&&!this.runs[0].all.omega);let c=[l.length&&"about the centre of mass",Dh(this.runs,"speeds")&&"with rotors"].filter(Boolean);this.key.querySelector(".key-momentum").textContent=["L angular momentum",c.join(", ")].join(" ").trim(),this.stage.aim(this.runs[0],this.options.poinsot),this.component=Object.fromEntries(Object.keys(ss).map(u=>[u,ff(this.runs[0],u)])),this.logarithmic=e?this.errors().some(u=>W0(this.runs,u)):this.logarithmic,this.fillPlots(),this.fillAbout(),this.paint();let h=Math.min(...this.runs.map(u=>u.t[0])),d=Math.max(...this.runs.map(u=>u.t.at(-1)));e&&(this.clock.speed=Dm(d-h,Math.max(...this.runs.map(su))),this.clock.time=h),this.clock.span(h,d)}cell(t,e){let n=pt("div","cell");if(this.runs.length>1){let s=pt("div","cell-name"),r=pt("i");r.dataset.run=e,s.append(r,pt("strong","",t.label),pt("span","",t.detail)),n.append(s)}return n}fillPlots(){if(!this.compact){for(let t of df.filter(e=>!this.errors().includes(e)))this.drop(t);for(let t of this.errors()){let e=this.plot(t),n=this.runs[0].titles[t];e.title.textContent=this.logarithmic?G0(n):n,e.remark.textContent=e.remark.title=J1(this.runs.map(s=>s.causes[t])),e.setLines(z0(this.runs,t,this.theme),this.logarithmic)}for(let t of Object.keys(ss))Dh(this.runs,t)?this.fillPart(t):this.drop(t)}}errors(){return df.filter(t=>this.runs.every(e=>e[t]))}drop(t){this.plots[t]?.remove(),delete this.plots[t]}plot(t){let e=this.plots[t]??=new Hr(this.plotsPlace,{seek:n=>this.seek(n)});return e.timeLabel=Bu("t",this.runs[0].units.time),e}fillPart(t){let{title:e,where:n="",unit:s}=ss[t],r=this.plot(t),o=this.runs.length>1;r.title.textContent=Bu(o?e:e+n,this.runs[0].units[s]),o&&this.chooser(t,r.title),r.setLines(V0(this.runs,t,this.component[t],this.theme),!1)}chooser(t,e){e.append(" ");for(let n=0;n<Dh(this.runs,t);n+=1){let s=$n("choice",ss[t].name(n),()=>{this.component[t]=n,this.fillPlots(),this.redraw()});s.setAttribute("aria-pressed",String(n===this.component[t])),e.append(s)}}fillAbout(){let t=pt("details"),e=pt("div","tables");t.append(pt("summary","",this.runs.length>1?"About these runs":"About this run"),e);for(let s of this.runs){let r=pt("dl");for(let[o,a]of Object.entries(s.about))r.append(pt("dt","",o),pt("dd","",a));e.append(r)}let n=[...new Set(this.runs.flatMap(s=>s.notes))];this.about.replaceChildren(pt("p","note",n.join(" ")),t)}seek(t){this.clock.seek(t)}toggle(){this.clock.play(!this.clock.playing)}play(){this.clock.play(!0)}pause(){this.clock.play(!1)}speed(t){this.clock.speed=El(this.clock.speed,t),this.redraw()}step(t,e){let{t:n}=this.runs[0],{time:s,start:r,end:o}=this.clock;if(this.pause(),e)return this.seek(s+t*(o-r)/20);let[a,l]=Dn(n,s);return this.seek(n[Math.max(0,Math.min(n.length-1,t>0?a+1:l>0?a:a-1))])}switch(t){if(!(t in zu(this.runs[0],this.rolls))){if(t==="follow"&&this.runs[0].bodies)return this.look(this.whom.next());t==="follow"&&this.switches.buttons.follow.hidden||(this.options[t]=!this.options[t],t==="poinsot"&&this.stage.aim(this.runs[0],this.options.poinsot),this.redraw())}}look(t){this.options.who=this.whom.value=t;for(let e of this.runs)e.bodies&&nu(e,t<e.bodies?t:"all");this.component=Object.fromEntries(Object.keys(ss).map(e=>[e,ff(this.runs[0],e)])),this.fillPlots(),this.paint()}log(){this.logarithmic=!this.logarithmic,this.fillPlots(),this.redraw()}zoom(){this.near=!this.near,this.redraw()}window(){let{time:t,start:e,end:n}=this.clock,s=Math.min(n-e,24*Math.PI/Math.max(...this.runs.map(su)));if(!this.near||!(s<n-e))return null;let r=Math.max(e,Math.min(n-s,t-s/2));return[r,r+s]}toggleTheme(){this.theme.toggle(),document.dispatchEvent(new CustomEvent("polhode-theme",{detail:this.theme.name})),this.paint()}help(){this.dialog.open?this.dialog.close():this.dialog.showModal()}save(){Object.assign(document.createElement("a"),{href:this.picture(),download:"polhode.png"}).click()}picture(){return this.stage.render(this.clock.time,this.shown()),this.canvas.toDataURL("image/png")}paint(){this.stage.paint(()=>this.theme.scene());for(let n of Object.values(this.plots))n.paint();this.cells.querySelectorAll("i[data-run]").forEach(n=>n.style.background=this.theme.line(Number(n.dataset.run)));let{omega:t,momentum:e}=this.theme.scene();this.root.style.setProperty("--omega",t),this.root.style.setProperty("--momentum",e),this.redraw()}redraw(){this.asked??=requestAnimationFrame(t=>{this.asked=null,this.clock.tick(t),this.stage.sharpness.frame(this.clock.playing?t:null),this.draw(),this.clock.playing&&this.redraw()})}align(){let t=Object.values(this.plots),e=Math.max(...t.map(n=>n.needed));for(let n of t)n.widen(e)}draw(){let t=this.window();this.align(),this.stage.render(this.clock.time,this.shown(),!this.clock.playing);for(let e of Object.values(this.plots))e.show(this.clock.time,H0,t);this.transport.show(this.clock,this.runs[0].units.time),this.switches.show(this.options,zu(this.runs[0],this.rolls)),this.logButton.setAttribute("aria-pressed",String(this.logarithmic)),this.zoomButton.setAttribute("aria-pressed",String(!!this.near)),this.key.querySelectorAll("span").forEach(e=>e.hidden=!this.options.arrows),this.turned.hidden=!this.options.poinsot,this.scale.textContent=[this.enlarged(),this.slowed()].filter(Boolean).join(". ")}shown(){return{...this.options,slowness:q0(this.runs,this.clock.speed)}}enlarged(){let{poinsot:t,follow:e,who:n}=this.options,s=({run:a,flight:l})=>a.bodies?c=>c.scales(n):l?()=>l.scales(e):null,r=Math.max(...this.stage.views.map(a=>s(a)?.(a).enlarged??1)),o=this.runs[0].bodies?"Bodies are":"The body is";return t||r<1.5?"":`${o} drawn about ${xi(r,2)} times ${this.runs[0].bodies?"their":"its"} size`}slowed(){let{slowness:t,poinsot:e}=this.shown();return e||t===1?"":`Rotors are drawn turning ${xi(t,2)} times slower than they do`}state(){let{time:t,playing:e,speed:n,start:s,end:r}=this.clock;return{time:t,playing:e,speed:n,start:s,end:r,theme:this.theme.name,...this.options,logarithmic:this.logarithmic,near:!!this.near,runs:this.runs.map((o,a)=>({label:o.label,frames:o.t.length,...this.stage.views[a].state(t)})),ticks:Object.fromEntries(Object.entries(this.plots).map(([o,a])=>[o,a.ticks]))}}remove(){this.stopKeys(),this.sizes.disconnect(),cancelAnimationFrame(this.asked),Object.values(this.plots).forEach(t=>t.remove()),this.stage.dispose(),this.root.remove()}};var $1=120,K1=250,j1={waiting:()=>"waiting for another page",preparing:i=>`preparing ${i}: the first time it is compiled, which takes some seconds`,running:(i,t)=>`${i}: ${Math.round(100*t)} %`};function n_(i,t,e){return new bf(i,t,e)}var bf=class{constructor(t,e,n){new Ns(document.documentElement),this.asked=n,this.answers=0,this.form=new Ml(e,o=>this.changed(o)),this.form.read(location.hash.slice(1)),window.addEventListener("hashchange",()=>{this.form.read(location.hash.slice(1)),this.changed(!0)}),this.status=pt("p","play-status"),this.status.setAttribute("role","status"),this.result=pt("section","play-result"),this.place=pt("div","play-view"),this.place.append(pt("p","play-first","Computing the first motion."));let s=pt("aside","play-panel");s.append(pt("h1","","Playground"),this.form.element,this.status,this.result),s.addEventListener("keydown",o=>o.stopPropagation());let r=pt("div","polhode play-page");r.append(s,this.place),t.replaceChildren(r),this.changed(!0)}changed(t=!1){this.fresh||=t,history.replaceState(null,"",`#${this.form.address()}`),this.asking?.abort(),this.busy=!0,this.quiet(),clearTimeout(this.soon),this.soon=setTimeout(()=>this.ask(),$1)}async ask(){let t=this.asking=new AbortController;this.later=setTimeout(()=>{this.loud=!0,this.say(this.news)},K1);try{for await(let e of this.asked(this.form.values(),t.signal))t.signal.aborted||this.hear(e);if(t.signal.aborted)return}catch(e){if(t.signal.aborted)return;this.quiet(),this.say(e.message,!0)}this.busy=!1}hear(t){return t.state?this.tell(j1[t.state](t.method,t.share)):(this.quiet(),t.refused?this.refuse(t.refused):this.show(t))}tell(t){this.news=t,this.loud&&this.say(t)}quiet(){clearTimeout(this.later),this.loud=!1,this.news=""}refuse(t){this.form.complain(t),this.say(t[""]??"The picture shows the last values that could be computed.",!0),this.root()?.classList.add("old")}show({runs:t,verdicts:e,code:n}){this.form.complain({});let{title:s,subtitle:r}=this.form.names(),{poinsot:o}=this.form.chosen();if(!this.viewer)this.viewer=Wh(this.place,t,{title:s,subtitle:r,poinsot:o});else{let l=this.fresh||t.length!==this.viewer.runs.length;this.viewer.update(t,{title:s,subtitle:r,fresh:l,...this.fresh?{poinsot:o}:{}})}this.fresh=!1,this.answers+=1,this.root().classList.remove("old"),this.say(e.map(l=>l.message).filter(Boolean).join(" "),!0);let a=$n("play-copy","Copy the address of this motion",()=>navigator.clipboard?.writeText(location.href));this.result.replaceChildren(Q1(e),tA(n),a)}root(){return this.viewer?.root}say(t,e=!1){this.status.textContent=t,this.status.classList.toggle("wrong",e&&!!t)}state(){return{busy:this.busy,answers:this.answers,asked:this.form.values(),viewer:this.viewer?.state()}}};function Q1(i){let t=[["",n=>n.method],["energy error",n=>n.causes.energy||xi(n.energy,2)],["momentum error",n=>n.causes.momentum||xi(n.momentum,2)],["steps",n=>String(n.steps)],["torque evaluations",n=>n.evaluations===null?"none":String(n.evaluations)],["time",n=>`${xi(1e3*n.seconds,2)} ms`]],e=pt("table");for(let[n,s]of t)e.insertRow().append(pt("th","",n),...i.map(o=>pt(n?"td":"th","",s(o))));return e}function tA(i){let t=pt("details"),e=$n("play-copy","Copy",()=>navigator.clipboard?.writeText(i),"Copy the code");return t.append(pt("summary","","The same in Python"),pt("pre","",i),e),t}function i_(i){let t={"Content-Type":"application/json","X-Polhode-Token":i};return async function*(n,s){let r=await fetch("/run",{method:"POST",headers:t,body:JSON.stringify(n),signal:s}).catch(a=>{throw a instanceof TypeError?new Error("The playground has stopped; start it again with `polhode play`."):a});if(!r.ok)throw new Error(await r.text());let o=null;for await(let a of eA(r.body))yield o=a;if(!o||o.state)throw new Error("The computation failed; the terminal shows the reason.")}}function s_(i,t){let e=new Worker(URL.createObjectURL(new Blob([i],{type:"text/javascript"}))),n=new Map,s=0,r=null;return e.postMessage({catalogue:t}),e.onmessage=({data:o})=>n.get(o.id)?.({line:o.line}),e.onerror=({message:o})=>{r=new Error(`The computation failed: ${o??"its script cannot be started"}.`);for(let a of n.values())a({error:r})},async function*(a,l){if(r)throw r;let c=s+=1,h=[],d=()=>{};n.set(c,u=>{h.push(u),d()}),l.addEventListener("abort",()=>d()),e.postMessage({id:c,asked:a});try{for(;;){if(h.length||await new Promise(g=>d=g),l.aborted)return;let{line:u,error:f}=h.shift();if(f)throw f;if(yield u,!u.state)return}}finally{n.delete(c)}}}async function*eA(i){let t=i.pipeThrough(new TextDecoderStream).getReader(),e="";for(;;){let{value:n,done:s}=await t.read();if(s)return;let r=(e+n).split(`
`);e=r.pop();for(let o of r)yield JSON.parse(o)}}return M_(nA);})();
